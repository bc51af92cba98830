/** Requests that race each other for a budget or for a name. */
import { ask, many, tally, type Target, unique, verdict, type Verdict } from "./target.ts"

/** Units of `rest` in any minute of the plan `default`. */
const REST = 120

export const races = async (target: Target): Promise<ReadonlyArray<Verdict>> => {
  const began = performance.now()
  const reads = await many(400, 64, () => ask(target, "/api/v1/account/usage", { key: target.keys.plain }))
  const isOneWindow = performance.now() - began < 60_000
  const admitted = reads.filter(({ status }) => status === 200).length
  const refused = reads.filter(({ status }) => status === 429)
  const waits = refused.map(({ headers }) => Number(headers.get("retry-after")))
  const name = unique()
  const created = await many(20, 20, () =>
    ask(target, "/api/v1/tracker/groups", {
      method: "POST",
      key: target.keys.all,
      headers: { "content-type": "application/json", "idempotency-key": name },
      body: JSON.stringify({ name })
    })
  )
  const first = created.filter(({ headers, status }) => status === 201 && !headers.has("idempotency-replayed"))
  return [
    verdict(
      "a budget admits exactly its units, whoever races",
      // On a machine so slow that the window moves on meanwhile, more fit.
      admitted === REST || (!isOneWindow && admitted > REST),
      { admitted, isOneWindow, ...tally(reads) }
    ),
    verdict(
      "each refusal says when to come back",
      refused.length > 0 && waits.every((wait) => wait >= 1 && wait <= 60),
      { refused: refused.length, least: Math.min(...waits), most: Math.max(...waits) }
    ),
    verdict("a change under one name is made once", first.length === 1, { made: first.length, ...tally(created) })
  ]
}
