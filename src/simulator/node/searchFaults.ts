/** How providers refuse `getProgramAccounts`, in their own words. */
import { HttpServerResponse } from "effect/http"
import type { Ailment } from "./Faults.ts"
import { failure, readCall, readJson } from "./jsonRpc.ts"

const refusals = {
  excluded: (program: string) => ({
    status: 200,
    code: -32010,
    message: `${program} excluded from account secondary indexes; this RPC method unavailable for key`
  }),
  too_many: () => ({ status: 200, code: -32602, message: "Too many accounts requested (1234567 pubkeys)" }),
  disabled: () => ({ status: 410, code: 410, message: "The RPC call or parameters have been disabled." }),
  forbidden: () => ({ status: 403, code: 403, message: "Access forbidden" })
} as const

/** The refusal of a request; null when the request is not a search, or searches are allowed. */
export const searchRefusal = (
  { searches }: Pick<Ailment, "searches">,
  body: string
): HttpServerResponse.HttpServerResponse | null => {
  const call = searches === "ok" ? null : readCall(readJson(body))
  if (searches === "ok" || call?.method !== "getProgramAccounts") {
    return null
  }
  const { status, ...error } = refusals[searches](String(call.params[0]))
  return HttpServerResponse.text(failure(call.id, error), { status, contentType: "application/json" })
}
