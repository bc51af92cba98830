import { Clock, Config, Context, Effect, Layer, type Scope } from "effect"
import type { HttpServerError } from "effect/http"
import { amountSetting, countSetting } from "../domain/countSetting.ts"
import type { Address } from "../domain/Address.ts"
import { type Block, BLOCKS_KEPT, digestOf, makeBank, SLOT_MS } from "./chain/Bank.ts"
import { RETAIL_WALLETS, type SimWallet } from "./traders/cast.ts"
import { type Ailment, ailmentConfig, type Faults, healthy } from "./node/Faults.ts"
import type { CopyJournal } from "./traders/followersJournal.ts"
import { makeMarket } from "./traders/Market.ts"
import type { GeyserNode } from "./node/GeyserNode.ts"
import { type GeyserAilment, healthyGeyser } from "./node/geyserSlots.ts"
import type { SimMint, SimPool } from "./chain/SimPool.ts"
import { makeReplay, type RecordedChain } from "./past/recordedChain.ts"
import { keepPace } from "./traders/pace.ts"
import { catchUp, livePast, readerPace, readsFirst } from "./traders/past.ts"
import { makeSlots } from "./traders/slots.ts"
import { chainStart, makeChain, makeEmptyBank, type SlotTime, startOf } from "./traders/startChain.ts"
import { makeSolanaNode, type SolanaNode } from "./node/SolanaNode.ts"

/** Settings of a simulated chain. */
export interface SimulatorOptions {
  /** The same seed gives the same market. */
  readonly seed: string
  /**
   * How fast slots pass, as a multiple of the usual speed. Block times follow the clock. At 0, only `advance` makes
   * slots.
   */
  readonly speed: number
  /** Since the chain is live. */
  readonly swapsPerSecond: number
  /** Before; as many as later when absent. */
  readonly pastSwapsPerSecond?: number | undefined
  readonly retailWallets: number
  /** With rugs, sandwiches, failures in bursts, skipped slots, forks and the like. See `docs/sandbox.md`. */
  readonly hardships: boolean
  /** Faults of the node at the start. */
  readonly ailment: Ailment
  /** When the chain goes live, in milliseconds since the Unix epoch; now when absent. */
  readonly startUnixMs?: number | undefined
  /** Hours of simulated past before the chain goes live. */
  readonly history: number
  /**
   * How many blocks the nodes keep. With more than 300, the past is made without waiting for its reader, and is kept.
   */
  readonly blocksKept: number
  /** Where the service gets new blocks: from calls of the node, or from a Geyser stream. */
  readonly source: "rpc" | "geyser"
  /**
   * The chain after its past, when the reader of the past has its blocks already. The nodes answer with it, and have its
   * slots, until the chain itself has made its past and these slots. Only at speed 1 and without faults.
   */
  readonly recorded: RecordedChain | null
  /**
   * With a recording, the chain begins its past once this completes: when the service has read its own. It begins after
   * `LATEST_PAST` at the latest.
   */
  readonly pastRead: Effect.Effect<void>
}

/**
 * How long the chain leaves the processor to the service that reads the recorded past. The recording then still has four
 * minutes of slots, in which even a busy machine makes the past.
 */
const LATEST_PAST = "1 minute"

/** First slot after a ledger reset. */
const RESET_SLOT = 1000

/** A simulated Solana on the loopback interface: a node, a market and traders, all derived from one seed. */
export class Simulator extends Context.Service<
  Simulator,
  {
    /** Endpoint of JSON-RPC over HTTP. */
    readonly rpcUrl: string
    /** Endpoint of subscriptions over WebSocket. */
    readonly wsUrl: string
    /** SOL and USDC at their real addresses, then simulated mints. Launches add more. */
    readonly mints: () => ReadonlyArray<SimMint>
    readonly wallets: ReadonlyArray<SimWallet>
    /** Slots of the past. Most of them have no block. */
    readonly pastSlots: number
    /** The first slot after the past. */
    readonly live: SlotTime
    readonly pools: () => ReadonlyArray<SimPool>
    readonly faults: Faults
    /**
     * Starts another node of the same chain until the scope closes. It has its own faults. Only the first node's
     * faults can halt the chain.
     */
    addNode(ailment: Ailment): Effect.Effect<SolanaNode, HttpServerError.ServeError, Scope.Scope>
    /** Starts a Geyser of the chain until the scope closes. Nothing of gRPC is loaded before the first call. */
    addGeyser(ailment?: Partial<GeyserAilment>): Effect.Effect<GeyserNode, never, Scope.Scope>
    /** Follows and fills of the simulated account that copies some of the wallets. */
    readonly copies: CopyJournal
    /** Deploys a program again, as an upgrade does: its ProgramData account gets the current slot and these bytes. */
    upgrade(programId: Address, elf?: Uint8Array): Effect.Effect<void>
    /** Makes this many slots at once, independently of the clock. */
    advance(slots: number): Effect.Effect<void>
    /** A digest of all accounts. Two chains have the same digest exactly when they are equal. */
    readonly digest: Effect.Effect<string>
  }
>()("fathom/simulator/Simulator") {
  /** The chain lives until the layer's scope closes. */
  static readonly layer = (
    options: Partial<SimulatorOptions> = {}
  ): Layer.Layer<Simulator, HttpServerError.ServeError> =>
    Layer.effect(Simulator, makeSimulator({ ...defaults, ...options }))

  /**
   * Like `layer`, with settings from `SIMULATOR_SEED`, `SIMULATOR_SPEED`, `SIMULATOR_SWAPS_PER_SECOND` (1, and 0.2
   * in the past), `SIMULATOR_RETAIL_WALLETS` (120), `SIMULATOR_HARDSHIPS` (true), `SIMULATOR_HISTORY` (25 hours), `SIMULATOR_BLOCKS_KEPT` (300), `SIMULATOR_SOURCE`
   * (rpc) and `SIMULATOR_FAULTS_...`.
   */
  static readonly layerConfig: Layer.Layer<Simulator, HttpServerError.ServeError | Config.ConfigError> = Layer.effect(
    Simulator,
    Effect.flatMap(
      Effect.suspend(() => simulatorConfig),
      (options) => makeSimulator(options)
    )
  )
}

const defaults: SimulatorOptions = {
  seed: "fathom",
  speed: 1,
  swapsPerSecond: 30,
  retailWallets: RETAIL_WALLETS,
  hardships: false,
  ailment: healthy,
  history: 0,
  blocksKept: BLOCKS_KEPT,
  source: "rpc",
  recorded: null,
  pastRead: Effect.void
}

/** A swap a second. */
const USUAL_SWAPS = 1
/** One swap every five seconds. The past then has 18,000 swaps, which one core makes in a few seconds. */
const USUAL_PAST_SWAPS = 0.2

/** A day and one hour, so that the state at the start of the last day is known. */
const DAY_HOURS = 25

/** The settings of `Simulator.layerConfig`. */
export const simulatorConfig: Config.Config<SimulatorOptions> = Config.all({
  seed: Config.String("SEED").pipe(Config.withDefault(defaults.seed)),
  speed: amountSetting("SPEED", defaults.speed),
  swapsPerSecond: amountSetting("SWAPS_PER_SECOND", USUAL_SWAPS),
  pastSwapsPerSecond: amountSetting("SWAPS_PER_SECOND", USUAL_PAST_SWAPS),
  retailWallets: countSetting("RETAIL_WALLETS", RETAIL_WALLETS, 1),
  hardships: Config.Boolean("HARDSHIPS").pipe(Config.withDefault(true)),
  history: amountSetting("HISTORY", DAY_HOURS),
  blocksKept: countSetting("BLOCKS_KEPT", BLOCKS_KEPT, 1),
  source: Config.Literals(["rpc", "geyser"], "SOURCE").pipe(Config.withDefault(defaults.source))
}).pipe(
  Config.nested("SIMULATOR"),
  Config.flatMap((options) => Config.map(ailmentConfig, (ailment) => ({ ...defaults, ...options, ailment })))
)

const makeSimulator = Effect.fnUntraced(function* (
  options: SimulatorOptions
): Effect.fn.Return<Simulator["Service"], HttpServerError.ServeError, Scope.Scope> {
  const { seed, speed, ailment, history, blocksKept } = options
  const builtAtMs = yield* Clock.currentTimeMillis
  const nowUnixMs = options.startUnixMs === undefined ? startOf(builtAtMs) : builtAtMs
  const start = chainStart(history, options.startUnixMs ?? nowUnixMs)
  const { live, pastSlots } = start
  const { bank, market } = makeChain(options, start)
  let replay =
    options.recorded === null ? null : makeReplay(options.recorded, makeEmptyBank(options, start), start.live)
  const ledger = { bank: replay?.bank ?? bank, market }
  const time = yield* Clock.Clock
  const resetLedger = (): void => {
    const nowMs = speed > 0 ? time.currentTimeMillisUnsafe() : ledger.bank.unixMsOf(ledger.bank.newest().slot)
    ledger.bank = makeBank({ seed, startSlot: RESET_SLOT, startUnixMs: nowMs })
    ledger.market = makeMarket({ ...options, bank: ledger.bank, liveUnixMs: nowMs })
  }
  const nodes = new Set<SolanaNode>()
  const addNode = Effect.fnUntraced(function* (ailmentOfNode: Ailment) {
    const node = yield* makeSolanaNode({ seed, bank: () => ledger.bank, ailment: ailmentOfNode, resetLedger })
    yield* Effect.acquireRelease(
      Effect.sync(() => nodes.add(node)),
      () => Effect.sync(() => nodes.delete(node))
    )
    return node
  })
  const { faults, lastReadMs, rpcUrl, wsUrl } = yield* addNode(ailment)
  const geysers = new Set<GeyserNode>()
  const addGeyser = Effect.fnUntraced(function* (ailmentOfGeyser: Partial<GeyserAilment> = {}) {
    const { makeGeyserNode } = yield* Effect.promise(() => import("./node/GeyserNode.ts"))
    const geyser = yield* makeGeyserNode(() => ledger.bank, { ...healthyGeyser, ...ailmentOfGeyser })
    yield* Effect.acquireRelease(
      Effect.sync(() => geysers.add(geyser)),
      () => Effect.sync(() => geysers.delete(geyser))
    )
    return geyser
  })
  const publish = (block: Block): void => nodes.forEach((node) => node.publish(block))

  const pass = makeSlots(
    options,
    () => (replay === null ? ledger : { bank, market }),
    (dropped) => replay === null && nodes.forEach((node) => node.publish(dropped))
  )
  /** Slots after the last recorded one that passed while the chain was not there yet. */
  let missed = 0
  const step = (): void => {
    if (replay !== null) {
      missed += replay.left() === 0 ? 1 : 0
      const recorded = replay.pass()
      if (recorded !== null) {
        publish(recorded)
      }
      return
    }
    if (faults.current().halted) {
      ledger.bank.skip(1)
      return
    }
    const block = pass()
    if (block !== null) {
      publish(block)
      geysers.forEach((geyser) => geyser.publish(block))
      nodes.forEach((node) => node.faults.strike(block.slot))
    }
  }
  const skip = (slots: number): void => {
    if (replay === null) {
      ledger.bank.skip(slots)
    } else {
      Array.from({ length: slots }).forEach(step)
    }
  }
  const publishPast = (block: Block): void => {
    if (options.recorded === null) {
      publish(block)
      geysers.forEach((geyser) => geyser.publishPast(block))
    }
  }
  /** Makes the past, and the recorded slots that have passed. Then the nodes answer from this chain. */
  const makePast = function* (): Generator<Block, void> {
    yield* livePast(bank, market, live.slot)
    for (let made = 0; made < (replay?.passed() ?? 0); made++) {
      const block = pass()
      if (block !== null) {
        yield block
      }
    }
    if (replay !== null) {
      replay = null
      ledger.bank = bank
      bank.skip(missed)
    }
  }
  bank.keep(options.recorded === null ? Number.POSITIVE_INFINITY : blocksKept)
  const goLive = Effect.map(Clock.currentTimeMillis, (nowMs) => {
    bank.keep(blocksKept)
    // Slots that passed on the clock since the start.
    skip(Math.floor(((nowMs - nowUnixMs) * speed) / SLOT_MS))
  })
  const past = makePast()
  if (speed === 0) {
    past.forEach(publishPast)
    yield* goLive
  } else {
    const mustWait = options.recorded !== null || blocksKept > BLOCKS_KEPT ? () => false : readerPace(bank)
    const made = catchUp(past, publishPast, { mustWait, isBusy: readsFirst(lastReadMs) })
    const madeLater = Effect.andThen(Effect.timeoutOption(options.pastRead, LATEST_PAST), made)
    const slots = Effect.andThen(goLive, keepPace(SLOT_MS / speed, step, skip))
    yield* (replay === null ? Effect.andThen(made, slots) : Effect.all([slots, madeLater], { concurrency: 2 })).pipe(
      Effect.tapDefect((defect) => Effect.logError("The simulated chain stopped", defect)),
      Effect.forkScoped
    )
  }

  return Simulator.of({
    rpcUrl,
    wsUrl,
    mints: () => ledger.market.mints(),
    wallets: market.wallets,
    pastSlots,
    live,
    pools: () => ledger.market.pools(),
    faults,
    addNode,
    addGeyser,
    copies: market.copies,
    upgrade: (programId, elf) => Effect.sync(() => ledger.market.upgrade(programId, elf)),
    advance: (slots) =>
      Effect.sync(() => {
        for (let i = 0; i < slots; i++) {
          step()
        }
      }),
    digest: Effect.sync(() => digestOf(ledger.bank))
  })
})
