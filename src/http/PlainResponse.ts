import { ServerResponse } from "node:http"

/**
 * A response with `strictContentLength` off. The HTTP adapter turns it on, which makes Node send headers and body in two
 * writes; lengths are computed where the texts are made.
 */
export class PlainResponse extends ServerResponse {}

Object.defineProperty(PlainResponse.prototype, "strictContentLength", { get: () => false, set: () => {} })
