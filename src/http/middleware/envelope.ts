import { catalogue, type ErrorCode } from "../../api/errors/catalogue.ts"
import type { Problem } from "../../api/errors/Problem.ts"

/** A problem that the server itself answers and no endpoint declares. */
export const serverProblem = (code: ErrorCode, message: string = catalogue[code].message): Problem => ({
  _tag: code,
  error: { code, message },
  requestId: ""
})

/** The JSON body of a problem. */
export const envelope = ({ error: { code, message, details } }: Problem, requestId: string): string =>
  JSON.stringify({ error: details === undefined ? { code, message } : { code, message, details }, requestId })
