/** One log event as data, and its text forms. */
import { Array, Cause, type Logger, Predicate, References } from "effect"
import { errorDetail } from "../domain/errorDetail.ts"

export interface LogRecord {
  /** ISO 8601 with milliseconds, UTC. */
  readonly time: string
  readonly level: string
  readonly message: string
  /** Details by name: arguments of the call and annotations of the fiber. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Messages of the errors behind the event, outermost first; absent when there are none. */
  readonly error?: string
  /** Only for a defect, which is a bug in the program. Failures of callers and of other services have no stack. */
  readonly stack?: string
}

const isText = (value: unknown): value is boolean | number | string | null =>
  value === null || ["boolean", "number", "string"].includes(typeof value)

/** Turns a value into JSON: amounts become decimal text, anything unknown becomes words. */
const plain = (value: unknown): unknown => {
  if (isText(value)) {
    return value
  }
  if (value instanceof Error) {
    return errorDetail(value)
  }
  return globalThis.Array.isArray(value) ? value.map(plain) : String(value)
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  Predicate.isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)

/** The messages of a cause's errors, and the stack of its first defect. Interruptions are left out. */
const detailsOf = (
  cause: Cause.Cause<unknown>
): { readonly errors: ReadonlyArray<string>; readonly stack?: string } => {
  const errors = cause.reasons.flatMap((reason) => {
    if (Cause.isFailReason(reason)) {
      return [errorDetail(reason.error)]
    }
    return Cause.isDieReason(reason) ? [errorDetail(reason.defect)] : []
  })
  const defect = cause.reasons.find(Cause.isDieReason)?.defect
  return { errors, ...(defect instanceof Error && defect.stack !== undefined && { stack: defect.stack }) }
}

/** Builds the record of a log event. */
export const logRecord = ({ cause, date, fiber, logLevel, message }: Logger.Options<unknown>): LogRecord => {
  const parts = Array.ensure(message)
  const { errors, stack } = detailsOf(cause)
  const thrown = parts.filter((part) => part instanceof Error).map(errorDetail)
  const error = [...thrown, ...errors].join("; ")
  const fields = Object.assign(
    {},
    fiber.getRef(References.CurrentLogAnnotations),
    ...parts.filter(isPlainObject)
  ) as object
  return {
    time: date.toISOString(),
    level: logLevel.toUpperCase(),
    message: parts.filter(isText).join(" "),
    fields: Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, plain(value)]]))
    ),
    ...(error !== "" && { error }),
    ...(stack !== undefined && { stack })
  }
}

/** The record as one line of JSON: `time`, `level` and `message`, then its fields, `error` and `stack`. */
export const jsonLine = ({ fields, level, message, time, ...rest }: LogRecord): string =>
  JSON.stringify({ time, level, message, ...fields, ...rest })

const shown = (value: unknown): string =>
  typeof value === "string" && !/[\s"=]/u.test(value) ? value : JSON.stringify(value)

/** The record as one line for people. A stack follows on lines of its own. */
export const prettyLine = ({ error, fields, level, message, stack, time }: LogRecord): string => {
  const details = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`)
  const line = [`[${time.slice(11, 23)}]`, `${level}:`, message, ...details].join(" ")
  // Control characters in an error from outside must not start a new line.
  const text = error === undefined ? line : `${line}: ${error.replaceAll(/[\r\n]+/gu, " ")}`
  return stack === undefined ? text : `${text}\n${stack}`
}

/** The key that events are folded by: level and message, without details. */
export const kindOf = ({ level, message }: LogRecord): string => `${level} ${message}`
