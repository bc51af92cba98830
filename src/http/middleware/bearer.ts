import type { IncomingHttpHeaders } from "node:http"

const BEARER = /^Bearer +(?<secret>\S.*)$/iu

/** The header that carries a key beside `Authorization`. */
export const KEY_HEADER = "x-api-key"

/** The token of an Authorization header; undefined when it is not a bearer token. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : BEARER.exec(authorization)?.groups?.["secret"]

/** True for different keys in both headers. The same one twice is sent by clients that use every scheme of the document. */
export const hasTwoKeys = (authorization: string | undefined, key: string | undefined): boolean =>
  authorization !== undefined && key !== undefined && bearerOf(authorization) !== key

/** The secret of a request with one key, from either header; undefined without a key, or with two. */
export const secretIn = ({ authorization, [KEY_HEADER]: given }: IncomingHttpHeaders): string | undefined => {
  if (given === undefined) {
    return bearerOf(authorization)
  }
  return typeof given === "string" && !hasTwoKeys(authorization, given) ? given : undefined
}
