import type { IncomingHttpHeaders } from "node:http"

const BEARER = /^Bearer +(?<secret>\S.*)$/iu

/** The header that may carry a key instead of `Authorization`. */
export const KEY_HEADER = "x-api-key"

/** The token of an Authorization header; undefined when it is not a bearer token. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : BEARER.exec(authorization)?.groups?.["secret"]

/** True for two different keys. Clients that use every scheme of the document send the same key in both headers. */
export const hasTwoKeys = (authorization: string | undefined, key: string | undefined): boolean =>
  authorization !== undefined && key !== undefined && bearerOf(authorization) !== key

/** The secret of a request with one key in either header; undefined without a key, or with two. */
export const secretIn = ({ authorization, [KEY_HEADER]: given }: IncomingHttpHeaders): string | undefined => {
  if (given === undefined) {
    return bearerOf(authorization)
  }
  return typeof given === "string" && !hasTwoKeys(authorization, given) ? given : undefined
}
