import { catalogue, type ErrorCode } from "../../api/catalogue.ts"
import type { Problem } from "../../api/Problem.ts"

/** A problem that no endpoint declares: what the edge itself has to say. */
export const refusal = (code: ErrorCode, message: string = catalogue[code].message): Problem => ({
  _tag: code,
  error: { code, message },
  requestId: ""
})

/** The body of a refusal. */
export const envelope = ({ error: { code, message, details } }: Problem, requestId: string): string =>
  JSON.stringify({ error: details === undefined ? { code, message } : { code, message, details }, requestId })
