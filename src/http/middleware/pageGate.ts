/** Limits what an address can request outside the contract: documents, pages and static files. None needs a key. */
import type { Clock } from "effect"
import type { HttpServerRequest } from "effect/http"
import { KeyedBudget } from "../../access/KeyedBudget.ts"
import type { RateLimited } from "../../api/errors/problems.ts"
import { monotonicMs } from "../../domain/loopTime.ts"
import { limited } from "../problems.ts"
import type { SettingsShape } from "../Settings.ts"
import { callerAddress, visitorOf } from "./clientAddress.ts"

const WINDOW_MS = 60_000

/**
 * Counts a request for a page by its address, in this process. Returns the 429 with the time after which a request fits;
 * null when it fits now. A refused request is not counted.
 */
export const makePageGate = (
  { pageRequests, trustedHops }: SettingsShape,
  clock: Clock.Clock
): ((request: HttpServerRequest.HttpServerRequest) => RateLimited | null) => {
  const budget = new KeyedBudget({ limit: pageRequests, windowMs: WINDOW_MS })
  return (request) => {
    const decision = budget.admit(visitorOf(callerAddress(request, trustedHops)), 1, monotonicMs(clock))
    const message = `An address may request ${pageRequests} pages, documents and files a minute.`
    return decision._tag === "Admitted" ? null : limited("address", message, decision.fitsInMs)
  }
}
