import { Cause, Exit, Option, Predicate, Runtime } from "effect"

/** How the command line prints errors. */
const printed = new Set(["ShowHelp", "UserError"])

/** Exit code for a command line that cannot be understood. */
const USAGE = 2

/** Names a setting as the environment does: `at ["SIMULATOR"]["HISTORY"]` becomes `at SIMULATOR_HISTORY`. */
const withNames = (line: string): string =>
  line.replaceAll(/\bat ((?:\["[^"]*"\])+)/gu, (_, path: string) => `at ${path.slice(2, -2).replaceAll('"]["', "_")}`)

/** Puts the setting first: `Expected an integer at PORT` becomes `PORT: expected an integer`. */
const settingFirst = (line: string): string =>
  withNames(line).replace(
    /^(?<first>\w)(?<rest>.*?),? at (?<name>[A-Z][A-Z0-9_]*)$/u,
    (_, first: string, rest: string, name: string) => `${name}: ${first.toLowerCase()}${rest}`
  )

/**
 * What to print when the program fails: one line for an expected error, the whole cause for a defect. Null for an
 * interruption, or when the error was printed already.
 */
export const exitMessage = (cause: Cause.Cause<{ readonly _tag: string; readonly message: string }>): string | null => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error === undefined) {
    return Cause.hasInterruptsOnly(cause) ? null : Cause.pretty(cause)
  }
  const inner = Predicate.hasProperty(error, "cause") ? error.cause : undefined
  const detail = Predicate.hasProperty(error, "detail") ? `${error._tag}: ${String(error.detail)}` : error._tag
  const message = error.message === "" && inner instanceof Error ? inner.message : error.message
  const line = message.replaceAll(/\s+/gu, " ").replace(/^SchemaError\((?<issue>.*)\)$/u, "$<issue>")
  return printed.has(error._tag) ? null : `fathom: ${message === "" ? detail : settingFirst(line)}`
}

const isUsageError = (error: unknown): boolean =>
  Predicate.isTagged(error, "ShowHelp") &&
  Predicate.hasProperty(error, "errors") &&
  Array.isArray(error.errors) &&
  error.errors.length > 0

/**
 * Exits with 2 when the command line cannot be understood, otherwise with 0, 1 for a failure or 130 for an
 * interruption.
 */
export const teardown: Runtime.Teardown = (exit, onExit) => {
  const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined
  return isUsageError(error) ? onExit(USAGE) : Runtime.defaultTeardown(exit, onExit)
}
