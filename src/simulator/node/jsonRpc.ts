/**
 * JSON-RPC 2.0 as a Solana validator speaks it. Results are JSON text, because JavaScript numbers cannot hold a u64.
 */

/** An error with one of a validator's codes. `data` is JSON text. */
export interface RpcFailure {
  readonly code: number
  readonly message: string
  readonly data?: string
}

export const parseError: RpcFailure = { code: -32700, message: "Parse error" }
export const invalidRequest: RpcFailure = { code: -32600, message: "Invalid request" }
export const methodNotFound: RpcFailure = { code: -32601, message: "Method not found" }
export const internalError: RpcFailure = { code: -32603, message: "Internal error" }
export const invalidParams = (detail: string): RpcFailure => ({ code: -32602, message: detail })

/** The error of a node that has not reached `minContextSlot` yet. */
export const minContextSlotNotReached = (slot: number): RpcFailure => ({
  code: -32016,
  message: "Minimum context slot has not been reached",
  data: `{"contextSlot":${slot}}`
})

/** One well-formed call. Without an id it is a notification and gets no response. */
export interface RpcCall {
  readonly id: string | number | null | undefined
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isId = (value: unknown): value is RpcCall["id"] =>
  value === undefined || value === null || typeof value === "string" || typeof value === "number"

/** Reads the call in a JSON value; null when it is no JSON-RPC 2.0 request. */
export const readCall = (value: unknown): RpcCall | null => {
  if (!isRecord(value) || value.jsonrpc !== "2.0" || typeof value.method !== "string" || !isId(value.id)) {
    return null
  }
  const params = value.params ?? []
  return Array.isArray(params) ? { id: value.id, method: value.method, params } : null
}

/** Parses JSON; `undefined` when the text is not JSON. */
export const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const success = (id: RpcCall["id"], result: string): string =>
  `{"jsonrpc":"2.0","result":${result},"id":${JSON.stringify(id ?? null)}}`

export const failure = (id: RpcCall["id"], { code, message, data }: RpcFailure): string => {
  const detail = data === undefined ? "" : `,"data":${data}`
  return `{"jsonrpc":"2.0","error":{"code":${code},"message":${JSON.stringify(message)}${detail}},"id":${JSON.stringify(id ?? null)}}`
}

/** A notification of a subscription. */
export const notification = (method: string, subscription: number, result: string): string =>
  `{"jsonrpc":"2.0","method":"${method}","params":{"result":${result},"subscription":${subscription}}}`
