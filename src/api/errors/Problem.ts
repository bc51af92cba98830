import { Effect, Schema } from "effect"
import { catalogue, type ErrorCode } from "./catalogue.ts"
import { field } from "../../domain/field.ts"

/** What is wrong with one part of a request. */
export const Issue = Schema.Literals([
  "missing",
  "repeated",
  "unknown",
  "type",
  "format",
  "out_of_range",
  "too_long",
  "conflict",
  "duplicate"
])
export type Issue = typeof Issue.Type

export class ErrorDetail extends Schema.Opaque<ErrorDetail>()(
  Schema.Struct({
    in: field(Schema.Literals(["query", "path", "body", "header"]), "Part of the request."),
    field: field(
      Schema.String,
      "Name of the parameter or header, or path of the field in the body, such as condition.metric."
    ),
    issue: field(Issue, "What is wrong with it.")
  }).annotate({ identifier: "ErrorDetail", description: "One part of the request that was rejected." })
) {}

/** A problem on the wire. */
export interface Envelope {
  readonly error: {
    readonly code: ErrorCode
    readonly message: string
    readonly details?: ReadonlyArray<ErrorDetail>
  }
  readonly requestId: string
}

/** A problem as a handler raises it. The request id is filled in when the answer leaves. */
export interface Problem extends Envelope {
  readonly _tag: string
  /** Seconds of `Retry-After`, in place of the code's default. */
  retryAfter?: number
  /** `Content-Range` of a 416: the size of the file. */
  contentRange?: string
}

const requestId = Schema.String.annotate({
  description: "Id of this answer, as in X-Request-Id. Quote it when you report a problem."
}).pipe(Schema.withConstructorDefault(Effect.succeed("")))

/** Members of a problem that are not on the wire. */
export interface ProblemMembers<Tag extends string> {
  readonly _tag: Tag
  retryAfter?: number
  contentRange?: string
}

/** The base class of one code's problem. Its schema fields are on the wire; `_tag` is not. */
export const problem =
  <Self>() =>
  <const Tag extends string, const Code extends ErrorCode>(tag: Tag, code: Code) => {
    const { status, message } = catalogue[code]
    const error = Schema.Struct({
      code: field(Schema.tag(code), "Stable code. Branch on it, never on the message."),
      message: Schema.String.annotate({ description: "Explanation for people. It may change at any time." }).pipe(
        Schema.withConstructorDefault(Effect.succeed<string>(message))
      ),
      details: field(Schema.optionalKey(Schema.Array(ErrorDetail)), "Every part of the request that was rejected.")
    })
    const wire = Schema.Struct({
      error: error
        .annotate({ description: "What went wrong." })
        .pipe(Schema.withConstructorDefault(Effect.succeed({}))),
      requestId
    })
    const base = Schema.Error<Self, ProblemMembers<Tag>>(tag)(
      wire.annotate({ identifier: tag, description: `${status} \`${code}\`. ${message}` }),
      {
        httpApiStatus: status,
        description: message
      }
    )
    Reflect.defineProperty(Object(base).prototype, "_tag", { value: tag, enumerable: true })
    return base
  }

/** Sets `Retry-After` to `seconds`, rounded up, at least one. */
export const retryAfter = <P extends Problem>(raised: P, seconds: number): P =>
  Object.assign(raised, { retryAfter: Math.max(1, Math.ceil(seconds)) })
