import { ServerResponse } from "node:http"

/**
 * A response whose content length is taken on trust. The adapter above asks Node to count the bytes of every answer, and
 * that makes Node send headers and body in two pieces; lengths are counted where the texts are made.
 */
export class PlainResponse extends ServerResponse {}

Object.defineProperty(PlainResponse.prototype, "strictContentLength", { get: () => false, set: () => {} })
