/** The time from the sending of a slot to the trades of it that a reader of the service's stream has. */
import { get } from "node:http"
import { TRADES_STREAM_PATH } from "../../../src/api/MarketStreams.ts"

/** Trades of some tokens as they arrive: for each slot the time of the first one, on this machine's clock. */
export const watchTrades = (baseUrl: string, secret: string, mints: ReadonlyArray<string>) => {
  const arrivedMs = new Map<number, number>()
  const state = { lost: 0, isClosed: false }
  const requests = mints.map((mint) => {
    const headers = { authorization: `Bearer ${secret}` }
    const request = get(`${baseUrl}${TRADES_STREAM_PATH}?mint=${mint}`, { headers }, (response) => {
      state.lost += response.statusCode === 200 ? 0 : 1
      response.setEncoding("utf8")
      let rest = ""
      response.on("data", (chunk: string) => {
        const atMs = performance.timeOrigin + performance.now()
        const events = (rest + chunk).split("\n\n")
        rest = events.pop() ?? ""
        for (const event of events) {
          if (!/^event: ?trade$/mu.test(event)) {
            continue
          }
          for (const [, slot] of event.matchAll(/"slot":(\d+)/gu)) {
            const number = Number(slot)
            arrivedMs.set(number, Math.min(arrivedMs.get(number) ?? atMs, atMs))
          }
        }
      })
      response.once("close", () => (state.lost += state.isClosed ? 0 : 1))
    })
    request.on("error", () => (state.lost += state.isClosed ? 0 : 1))
    return request
  })
  return {
    arrivedMs,
    lost: () => state.lost,
    close: () => {
      state.isClosed = true
      requests.forEach((request) => request.destroy())
    }
  }
}
