/** The proof thread, with LiteSVM where it is installed and a real program where there is one. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { readFixture } from "../../../src/quotes/execution/poolFixture.ts"
import { loadRuntime } from "../../../src/quotes/execution/programRuntime.ts"
import { programOf } from "../../../src/quotes/execution/deployment.ts"
import { meteoraDammV2 } from "../../../src/programs/meteora/dammV2.ts"
import { Prover } from "../../../src/quotes/execution/Prover.ts"
import * as ProverThread from "../../../src/quotes/execution/ProverThread.ts"

const { programId } = meteoraDammV2
const fixture = readFixture(fileURLToPath(new URL("../../vectors/pools/dammv2-521-1-m22.json", import.meta.url)))
const pool = [...fixture.accounts.values()].find((account) => meteoraDammV2.isPool(account)) ?? assert.fail("no pool")
const snapshot = { pool, accounts: fixture.accounts, clock: fixture.clockOf({}) }
const loaded = loadRuntime()
const absent = typeof loaded === "function" ? "" : ` (skipped: ${loaded.reason})`
const binary = join(process.env["PROVE_PROGRAMS"] ?? "", `${programId}.so`)

const opened = Effect.flatMap(Layer.build(ProverThread.layer), (built) => Context.get(built, Prover).open)

/**
 * A thread that answers a job without swaps late, after the next job. It answers other jobs at once, with the seed as
 * the number of exact swaps.
 */
const late = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from "node:worker_threads"
    const held = []
    parentPort.on("message", ({ seed, swaps }) => {
      held.push({ executed: seed, exact: seed, refused: 0, wrong: 0, fixture: null, obstacle: null, cpuMs: 1 })
      if (swaps > 0) held.splice(0).forEach((outcome) => parentPort.postMessage(outcome))
    })
    parentPort.postMessage({ unavailable: null })
  `)}`
)

describe("a thread that does not answer in time", () => {
  it.effect("is replaced: its late answer does not count for the next job, and its time is charged", () =>
    Effect.gen(function* () {
      const built = yield* Layer.build(ProverThread.layerOf(late))
      const session = yield* Context.get(built, Prover).open
      const job = { programId, ...programOf(Uint8Array.of(1)), snapshot }
      const first = yield* Effect.forkChild(Effect.flip(session.prove({ ...job, swaps: 0, seed: 1 })), {
        startImmediately: true
      })
      yield* TestClock.adjust("2 minutes")
      const { cpuMs, detail } = yield* Fiber.join(first)
      assert.deepStrictEqual([cpuMs, detail], [120_000, "no answer within 2m"])
      assert.strictEqual((yield* session.prove({ ...job, swaps: 1, seed: 2 })).exact, 2)
      yield* session.rest
      assert.strictEqual((yield* session.prove({ ...job, swaps: 1, seed: 3 })).exact, 3)
    })
  )
})

describe.skipIf(absent !== "")(`the thread of proofs${absent}`, () => {
  it.live("fails with a reason when the bytes are no program, and goes on", () =>
    Effect.gen(function* () {
      const session = yield* opened
      const program = programOf(Uint8Array.of(1, 2, 3))
      const job = { programId, ...program, snapshot, swaps: 2, seed: 1 }
      const first = yield* Effect.flip(session.prove(job))
      assert.strictEqual(first._tag, "ProofFailed")
      assert.isNotEmpty(first.detail)
      // More jobs than the number of listeners that an emitter accepts.
      const warnings: Array<string> = []
      const note = ({ name }: Error): void => void warnings.push(name)
      yield* Effect.sync(() => process.on("warning", note))
      for (let again = 0; again < 12; again++) {
        assert.deepStrictEqual(yield* Effect.flip(session.prove(job)), first)
      }
      yield* Effect.sync(() => process.off("warning", note))
      assert.notInclude(warnings, "MaxListenersExceededWarning")
    })
  )

  it.live.skipIf(!existsSync(binary))("compares a real program, to the unit (skipped without PROVE_PROGRAMS)", () =>
    Effect.gen(function* () {
      const session = yield* opened
      const job = { programId, ...programOf(readFileSync(binary)), snapshot, swaps: 16, seed: 7 }
      const outcome = yield* session.prove(job)
      assert.isAbove(outcome.exact, 0)
      assert.deepInclude(outcome, { wrong: 0, fixture: null, obstacle: null })
      assert.isAbove(outcome.cpuMs, 0)
    })
  )
})
