import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import * as TestDatabase from "../support/TestDatabase.ts"
import { dice } from "./tape.ts"

const CHAINS = 5
const KILLS_EACH = 10
const TRADES_A_BLOCK = 3
const HOURS_AGO = 6 * 3_600_000

/** What a writer said before it was killed. */
interface Said {
  readonly stored: ReadonlyArray<number>
  /** Its first new slot, and the trades that were on the tape by then. */
  readonly tape: ReadonlyArray<readonly [slot: number, trades: number]>
}

const script = new URL("../support/tradeWriter.ts", import.meta.url).pathname

/** Runs a writer until some time after its first acknowledgement, then kills it. */
const killed = (address: TestDatabase.TestAddress, genesis: string, startMs: number, afterMs: number) =>
  Effect.callback<Said>((resume) => {
    const stored: Array<number> = []
    const tape: Array<readonly [number, number]> = []
    const child = spawn(process.execPath, [script, address.host, address.database, genesis, String(startMs)], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    createInterface(child.stdout).on("line", (line) => {
      const [word, slot, trades] = line.split(" ")
      if (word === "tape") {
        tape.push([Number(slot), Number(trades)])
      } else if (word === "stored" && stored.push(Number(slot)) === 1) {
        setTimeout(() => child.kill("SIGKILL"), afterMs)
      }
    })
    child.once("close", () => resume(Effect.succeed({ stored, tape })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const Slots = Schema.Array(Schema.Struct({ slot: Schema.Number, trades: Schema.Number, places: Schema.Number }))
const decodeSlots = Schema.decodeUnknownEffect(Slots)

describe.runIf(TestDatabase.isAvailable)("a tape that is killed again and again", () => {
  it.live(
    "loses no acknowledged trade and doubles none, in the store or in memory",
    () =>
      Effect.gen(function* () {
        const address = yield* TestDatabase.create
        const sql = Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
        const startMs = Date.now() - HOURS_AGO
        const roll = dice(7)

        const life = Effect.fnUntraced(function* (genesis: string) {
          let acknowledged = 0
          for (let kill = 0; kill < KILLS_EACH; kill++) {
            const { stored, tape } = yield* killed(address, genesis, startMs, Math.floor(roll() * 120))
            for (const [slot, trades] of tape) {
              assert.isAbove(slot, acknowledged)
              assert.strictEqual(trades, slot * TRADES_A_BLOCK, `${genesis} ${kill}: what the tape held`)
            }
            assert.lengthOf(tape, 1)
            acknowledged = Math.max(acknowledged, ...stored)
          }
          const rows = yield* sql`
            select trades.slot, count(*)::int as trades, count(distinct place)::int as places
            from trades join chains on chain = id where genesis = ${genesis} group by 1 order by 1
          `.pipe(Effect.flatMap((found) => decodeSlots(found)))
          const last = rows.length
          assert.isAtLeast(last, acknowledged)
          assert.deepStrictEqual(
            rows,
            Array.from({ length: last }, (_, i) => ({ slot: i + 1, trades: TRADES_A_BLOCK, places: TRADES_A_BLOCK }))
          )
        })

        yield* Effect.forEach(
          Array.from({ length: CHAINS }, (_, i) => `chain ${i}`),
          life,
          { concurrency: "unbounded" }
        )
      }),
    { timeout: 240_000 }
  )
})
