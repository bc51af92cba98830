import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { ProgramState } from "../../../src/api/schemas/ProgramState.ts"
import { Readings } from "../../../src/operations/Readings.ts"
import { SourceMonitor } from "../../../src/operations/SourceMonitor.ts"
import { meteoraDlmm } from "../../../src/programs/meteora/dlmm.ts"
import { programs } from "../../../src/programs/registry.ts"
import { HEADER } from "../../../src/quotes/execution/deployment.ts"
import { ProgramWatch, PROGRAMS } from "../../../src/quotes/execution/ProgramWatch.ts"
import * as VenueProofs from "../../../src/quotes/VenueProofs.ts"
import { ProgramChain } from "./programScene.ts"

const { dex, programId } = meteoraDlmm

const stateOf = Effect.map(
  ProgramWatch,
  ({ states }): ProgramState => states().find((one) => one.dex === dex) ?? assert.fail("is not watched")
)
const sourceState = Effect.gen(function* () {
  const { stateOf: read } = yield* SourceMonitor
  return read(PROGRAMS, yield* Clock.currentTimeMillis) ?? assert.fail("is not reported")
})
const metric = (name: string, labels: Record<string, string>) =>
  Effect.map(Readings, ({ collect }) => {
    const samples = collect(0).find((reading) => reading.name === name)?.samples ?? []
    return samples.find(({ labels: own = {} }) => Object.entries(labels).every(([key, value]) => own[key] === value))
      ?.value
  })
const outcome = { slot: 900, atMs: 0, sha256: "ab", pools: 2, exact: 60, refused: 4, wrong: 0 }

describe("the watch of programs", () => {
  it.effect("records deployments as they are first seen, from the headers of their accounts", () => {
    const chain = new ProgramChain()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const { states } = yield* ProgramWatch
      assert.deepStrictEqual(
        states(),
        programs.map((program) => ({
          dex: program.dex,
          state: "unchanged",
          upgraded: false,
          upgradeable: true,
          deployedAtSlot: 500,
          provenAtSlot: null,
          detail: null
        }))
      )
      const source = yield* sourceState
      assert.strictEqual(source.status, "known")
      assert.deepStrictEqual(source.programs, states())
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(chain.slices, Array<unknown>(11).fill(HEADER))
    }).pipe(Effect.provide(chain.watch()))
  })

  it.effect("marks the venue of an upgraded program within a minute, in metrics and in freshness too", () => {
    const chain = new ProgramChain()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      chain.deploy(programId, 990)
      yield* TestClock.adjust("1 minute")
      const state = yield* stateOf
      assert.deepInclude(state, { state: "unproven", upgraded: true, deployedAtSlot: 990, provenAtSlot: null })
      assert.strictEqual(state.detail, "upgraded at slot 990, known at slot 500")
      assert.strictEqual((yield* sourceState).status, "partial")
      const { history } = yield* SourceMonitor
      assert.include(history(PROGRAMS, "partial", 0).lastError?.detail ?? "", `${dex}: upgraded at slot 990`)
      assert.strictEqual(yield* metric("fathom_program_state", { dex, state: "unproven" }), 1)
      assert.strictEqual(yield* metric("fathom_program_state", { dex, state: "unchanged" }), 0)
      assert.strictEqual(yield* metric("fathom_program_upgraded", { dex }), 1)
      assert.strictEqual(yield* metric("fathom_program_upgraded", { dex: "pumpswap" }), 0)
    }).pipe(Effect.provide(chain.watch()))
  })

  it.effect("notices after a restart that a program was upgraded meanwhile", () => {
    const chain = new ProgramChain()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0).pipe(Effect.provide(chain.watch()))
      chain.deploy(programId, 700)
      const state = yield* Effect.andThen(TestClock.adjust(0), stateOf).pipe(
        Effect.provide(chain.watch(), { local: true })
      )
      assert.deepInclude(state, { state: "unproven", upgraded: true })
    })
  })

  it.effect("proves a program at a slot until the next upgrade", () => {
    const chain = new ProgramChain()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      chain.deploy(programId, 890)
      yield* TestClock.adjust("1 minute")
      const { proved } = yield* ProgramWatch
      yield* proved({ programId, slot: 890 }, outcome)
      assert.deepInclude(yield* stateOf, { state: "proven", upgraded: false, provenAtSlot: 900 })
      chain.deploy(programId, 950)
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* stateOf, { state: "unproven", upgraded: true, provenAtSlot: null })
      yield* proved({ programId, slot: 950 }, { ...outcome, wrong: 3 })
      const wrong = yield* stateOf
      assert.deepInclude(wrong, { state: "wrong", upgraded: true, provenAtSlot: null })
      assert.include(wrong.detail ?? "", "3 of 63 executed swaps differ")
      assert.strictEqual((yield* sourceState).status, "partial")
      yield* proved({ programId, slot: 950 }, outcome)
      assert.deepInclude(yield* stateOf, { state: "proven", upgraded: false, provenAtSlot: 900 })
      assert.strictEqual((yield* sourceState).status, "known")
    }).pipe(Effect.provide(chain.watch()))
  })

  it.effect("accepts the deployment that the operator names, and no later one", () => {
    const chain = new ProgramChain()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      chain.deploy(programId, 700)
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* stateOf, { state: "unchanged", upgraded: false })
      chain.deploy(programId, 701)
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* stateOf, { state: "unproven", upgraded: true })
    }).pipe(Effect.provide(chain.watch({ PROGRAMS_ACCEPTED: `pumpswap@1, ${dex}@700` })))
  })

  it.effect("ignores an older deployment from a node that is behind", () => {
    const chain = new ProgramChain()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      chain.deploy(programId, 499)
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* stateOf, { state: "unchanged", deployedAtSlot: 500 })
    }).pipe(Effect.provide(chain.watch()))
  })

  it.effect("knows nothing before the first read, is stale after three failed reads, and recovers", () => {
    const chain = new ProgramChain()
    chain.isAway = true
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      assert.strictEqual((yield* sourceState).status, "unavailable")
      assert.deepInclude(yield* stateOf, { state: "unknown", upgraded: null, deployedAtSlot: null })
      assert.isUndefined(yield* metric("fathom_program_upgraded", { dex }))
      chain.isAway = false
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* sourceState).status, "known")
      chain.isAway = true
      yield* TestClock.adjust("4 minutes")
      assert.strictEqual((yield* sourceState).status, "stale")
      assert.deepInclude(yield* stateOf, { state: "unchanged" })
      chain.isAway = false
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* sourceState).status, "known")
    }).pipe(Effect.provide(chain.watch()))
  })

  it.effect("starts although its first look dies, and looks again", () => {
    const chain = new ProgramChain()
    chain.isBroken = true
    return Effect.gen(function* () {
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* sourceState).status, "unavailable")
      assert.strictEqual((yield* stateOf).state, "unknown")
      chain.isBroken = false
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* sourceState).status, "known")
      assert.strictEqual((yield* stateOf).state, "unchanged")
    }).pipe(Effect.provide(chain.watch()))
  })

  it.effect("notices an upgrade while the store is away", () => {
    const chain = new ProgramChain()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      chain.proofs.isAway = true
      chain.deploy(programId, 990)
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* stateOf, { state: "unproven", upgraded: true })
    }).pipe(Effect.provide(chain.watch()))
  })

  it.effect("gives the reason when a program is closed, and leaves the others alone", () => {
    const chain = new ProgramChain()
    chain.accounts.delete(programId)
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      assert.deepInclude(yield* stateOf, { state: "unknown", detail: "there is no program account" })
      const { states } = yield* ProgramWatch
      assert.strictEqual(states().filter(({ state }) => state === "unchanged").length, programs.length - 1)
    }).pipe(Effect.provide(chain.watch()))
  })

  it.effect("reads nothing for a recorded market", () => {
    const chain = new ProgramChain()
    chain.state = "recorded"
    return Effect.gen(function* () {
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(chain.slices, [])
      assert.isNull((yield* SourceMonitor).stateOf(PROGRAMS, 0))
    }).pipe(Effect.provide(chain.watch()))
  })
})

const watch = (chain: ProgramChain, env: Record<string, string> = {}) =>
  chain.watch(env).pipe(Layer.provideMerge(VenueProofs.layer))

describe("a venue that was found wrong", () => {
  const wrong = { ...outcome, wrong: 3 }
  const refusal = Effect.map(VenueProofs.VenueProofs, ({ refused }) => refused().get(dex) ?? null)

  it.effect("is refused from the start, even while its account is missing or the programs cannot be read", () => {
    const chain = new ProgramChain()
    chain.proofs.records.set(programId, { knownSlot: 500, soundSlot: 500, proof: wrong })
    chain.accounts.delete(programId)
    return Effect.gen(function* () {
      assert.include((yield* refusal) ?? "", "its prices were found wrong: 3 of 63 executed swaps differ")
      assert.deepInclude(yield* stateOf, { state: "unknown" })
      chain.isAway = true
      yield* TestClock.adjust("10 minutes")
      assert.isNotNull(yield* refusal)
    }).pipe(Effect.provide(watch(chain)))
  })

  it.effect("is refused from the start when the programs cannot be read", () => {
    const chain = new ProgramChain()
    chain.proofs.records.set(programId, { knownSlot: 500, soundSlot: 500, proof: wrong })
    chain.isAway = true
    return Effect.gen(function* () {
      assert.isNotNull(yield* refusal)
    }).pipe(Effect.provide(watch(chain)))
  })

  it.effect("stays refused after an upgrade, until a proof", () => {
    const chain = new ProgramChain()
    chain.proofs.records.set(programId, { knownSlot: 500, soundSlot: 500, proof: wrong })
    return Effect.gen(function* () {
      chain.deploy(programId, 990)
      yield* TestClock.adjust("1 minute")
      const state = yield* stateOf
      assert.deepInclude(state, { state: "unproven", upgraded: true })
      assert.include(state.detail ?? "", "before, its prices were found wrong: 3 of 63")
      assert.isNotNull(yield* refusal)
      const { proved } = yield* ProgramWatch
      yield* proved({ programId, slot: 990 }, outcome)
      assert.isNull(yield* refusal)
    }).pipe(Effect.provide(watch(chain)))
  })

  it.effect("is quoted again once its upgrade is accepted, but not when the wrong deployment is accepted", () => {
    const chain = new ProgramChain()
    chain.proofs.records.set(programId, { knownSlot: 500, soundSlot: 500, proof: wrong })
    return Effect.gen(function* () {
      assert.isNotNull(yield* refusal.pipe(Effect.provide(watch(chain, { PROGRAMS_ACCEPTED: `${dex}@500` }))))
      chain.deploy(programId, 990)
      const accepted = watch(chain, { PROGRAMS_ACCEPTED: `${dex}@990` })
      assert.isNull(yield* refusal.pipe(Effect.provide(accepted, { local: true })))
    })
  })

  it.effect("is refused at once when the proof cannot be stored, and the proof is stored later", () => {
    const chain = new ProgramChain()
    return Effect.gen(function* () {
      const { proved } = yield* ProgramWatch
      chain.proofs.isAway = true
      yield* proved({ programId, slot: 500 }, wrong)
      assert.isNotNull(yield* refusal)
      yield* TestClock.adjust("1 minute")
      assert.isNotNull(yield* refusal)
      assert.isNull(chain.proofs.records.get(programId)?.proof)
      chain.proofs.isAway = false
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(chain.proofs.records.get(programId)?.proof?.wrong, 3)
      assert.deepInclude(yield* stateOf, { state: "wrong", upgraded: false })
    }).pipe(Effect.provide(watch(chain)))
  })

  it.effect("is judged by its latest deployment: a proof of an earlier one changes nothing", () => {
    const chain = new ProgramChain()
    return Effect.gen(function* () {
      // Another process has proven an upgrade that this process has not seen.
      chain.proofs.records.set(programId, { knownSlot: 700, soundSlot: 500, proof: wrong })
      const { proved } = yield* ProgramWatch
      yield* proved({ programId, slot: 500 }, outcome)
      assert.deepInclude(yield* stateOf, { state: "wrong", upgraded: true, deployedAtSlot: 700 })
      assert.isNotNull(yield* refusal)
    }).pipe(Effect.provide(watch(chain)))
  })
})

describe("PROVE_POLICY", () => {
  const refusal = Effect.map(VenueProofs.VenueProofs, ({ refused }) => refused().get(dex) ?? null)

  it.effect("changed refuses a venue from an upgrade until a proof, or until the operator accepts it", () => {
    const chain = new ProgramChain()
    return Effect.gen(function* () {
      assert.isNull(yield* refusal)
      chain.deploy(programId, 700)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* refusal, "its program is not proven since: upgraded at slot 700, known at slot 500")
      const accepted = watch(chain, { PROVE_POLICY: "changed", PROGRAMS_ACCEPTED: `${dex}@700` })
      assert.isNull(yield* refusal.pipe(Effect.provide(accepted, { local: true })))
      const { proved } = yield* ProgramWatch
      yield* proved({ programId, slot: 700 }, outcome)
      assert.isNull(yield* refusal)
    }).pipe(Effect.provide(watch(chain, { PROVE_POLICY: "changed" })))
  })

  it.effect("proven refuses every venue without a current proof", () => {
    const chain = new ProgramChain()
    return Effect.gen(function* () {
      assert.strictEqual(yield* refusal, "its program is not proven")
      const { proved } = yield* ProgramWatch
      yield* proved({ programId, slot: 500 }, outcome)
      assert.isNull(yield* refusal)
      chain.isAway = true
      yield* TestClock.adjust("4 minutes")
      assert.include((yield* refusal) ?? "", "could not be read")
      chain.isAway = false
      yield* TestClock.adjust("1 minute")
      assert.isNull(yield* refusal)
    }).pipe(Effect.provide(watch(chain, { PROVE_POLICY: "proven" })))
  })
})

describe("a proof", () => {
  it.effect("proves nothing when it compared too few swaps", () => {
    const chain = new ProgramChain()
    chain.proofs.records.set(programId, { knownSlot: 500, soundSlot: 500, proof: { ...outcome, exact: 0 } })
    return Effect.gen(function* () {
      const state = yield* stateOf
      assert.deepInclude(state, { state: "unproven", upgraded: false, provenAtSlot: null })
      assert.strictEqual(state.detail, "0 executed swaps were compared, and 16 are needed")
    }).pipe(Effect.provide(watch(chain)))
  })

  it.effect("counts in quotes until three reads have failed, and again after the next read", () => {
    const chain = new ProgramChain()
    chain.proofs.records.set(programId, { knownSlot: 500, soundSlot: 500, proof: outcome })
    const provenAtSlot = Effect.map(VenueProofs.VenueProofs, (proofs) => proofs.provenAtSlot(dex))
    return Effect.gen(function* () {
      assert.strictEqual(yield* provenAtSlot, 900)
      chain.isAway = true
      yield* TestClock.adjust("3 minutes")
      assert.strictEqual(yield* provenAtSlot, 900)
      yield* TestClock.adjust("1 minute")
      assert.isNull(yield* provenAtSlot)
      chain.isAway = false
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* provenAtSlot, 900)
    }).pipe(Effect.provide(watch(chain)))
  })
})
