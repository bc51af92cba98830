import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { call, keyOf, running } from "../../support/http.ts"
import { readerOver } from "../../wallets/readers.ts"
import { MINT, MINT_2, START, tradeOf, usd, WALLET } from "../../wallets/trades.ts"

const sale = { side: "sell", amount: 1_000_000n } as const
const trades = [
  tradeOf({ slot: 6, mint: MINT_2, ...sale, volumeUsdNanos: usd(1) }),
  tradeOf({ slot: 5, ...sale, volumeUsdNanos: null }),
  tradeOf({ slot: 4, ...sale, volumeUsdNanos: usd(1) }),
  tradeOf({ slot: 3, volumeUsdNanos: usd(7) }),
  tradeOf({ slot: 2, volumeUsdNanos: usd(3) }),
  tradeOf({ slot: 1, volumeUsdNanos: usd(5) })
]

const read = (query: Record<string, string>) =>
  call(`/api/v1/wallets/${WALLET}/lots?${new URLSearchParams(query)}`, { method: "GET", key: "a" })

const costs = (answer: { readonly json: (path: string) => unknown }) =>
  [answer.json("data")].flat().map((row) => Reflect.get(Object(row), "costUsd"))

layer(running({ keys: [keyOf("a")], wallets: readerOver({ trades: { [WALLET]: trades } }) }))(
  "GET /api/v1/wallets/{wallet}/lots",
  (it) => {
    it.effect("has what each sale took by the method, latest first, with sums over all pages", () =>
      Effect.gen(function* () {
        for (const [method, expected] of [
          ["fifo", ["3", "5"]],
          ["lifo", ["3", "7"]],
          ["hifo", ["5", "7"]],
          ["average", ["5", "5"]]
        ] as const) {
          const answer = yield* read({ method, mint: MINT })
          assert.strictEqual(answer.status, 200, answer.text)
          assert.deepStrictEqual(costs(answer), [...expected], method)
        }
        const all = yield* read({ method: "fifo" })
        assert.deepStrictEqual(costs(all), [null, "3", "5"])
        assert.deepInclude(all.json("data.2"), {
          acquiredSignature: "sig_1_0",
          soldSignature: "sig_4_0",
          soldAtMs: START + 1600,
          gainUsd: "-4"
        })
        assert.deepStrictEqual(all.json("meta.sums"), {
          rows: 3,
          unknown: 2,
          costUsd: null,
          proceedsUsd: null,
          gainUsd: null,
          knownGainUsd: "-4"
        })
        assert.strictEqual(all.json("meta.coverage.complete"), false)
        const open = yield* read({ method: "hifo", state: "open" })
        assert.deepStrictEqual(costs(open), ["3"])
      })
    )

    it.effect("gives each row once over pages, and the same rows as CSV", () =>
      Effect.gen(function* () {
        const first = yield* read({ method: "lifo", limit: "2" })
        const second = yield* read({ method: "lifo", limit: "2", cursor: String(first.json("nextCursor")) })
        assert.deepStrictEqual([...costs(first), ...costs(second)], [null, "3", "7"])
        assert.isNull(second.json("nextCursor"))
        const csv = yield* read({ method: "lifo", format: "csv", mint: MINT })
        assert.deepStrictEqual(csv.text.split("\r\n"), [
          "mint,decimals,units,origin,acquiredAtMs,acquiredSignature,soldAtMs,soldSignature,costUsd,proceedsUsd,gainUsd",
          `${MINT},6,1000000,bought,${START + 800},sig_2_0,${START + 2000},sig_5_0,3,,`,
          `${MINT},6,1000000,bought,${START + 1200},sig_3_0,${START + 1600},sig_4_0,7,1,-6`,
          ""
        ])
        const refused = yield* read({ method: "fifo", limit: "2", cursor: String(first.json("nextCursor")) })
        assert.deepStrictEqual([refused.status, refused.json("error.code")], [400, "invalid_cursor"])
        const wrong = yield* read({ method: "best" })
        assert.deepStrictEqual([wrong.status, wrong.json("error.details.0.field")], [400, "method"])
      })
    )
  }
)
