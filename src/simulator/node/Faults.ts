import { Config, Duration, Effect, Schema } from "effect"
import { amountSetting, countSetting, durationSetting } from "../../domain/countSetting.ts"
import { type Ailing, makeAiling } from "./ailing.ts"

/** The faults of the node. */
export interface Ailment {
  /**
   * The outcome of HTTP requests and handshakes. `frozen` accepts them, never answers, and goes silent on open sockets;
   * `redirect` answers with another address.
   */
  readonly http: "ok" | "503" | "429" | "frozen" | "redirect"
  /** `refused`: no WebSocket is opened; open ones stay. */
  readonly sockets: "ok" | "refused"
  /** `1970`: blocks have the times of a node whose clock begins at the Unix epoch; the clock sysvar is right. */
  readonly blockTimes: "ok" | "1970"
  /** Every answer and every notification comes this much later. */
  readonly lag: Duration.Duration
  /** Every notification is sent twice. */
  readonly duplicates: boolean
  /**
   * Refusals of `getProgramAccounts`: the program is left out of the index (-32010), or has too many accounts (-32602); the
   * method is disabled (HTTP 410), or forbidden (HTTP 403).
   */
  readonly searches: "ok" | "excluded" | "too_many" | "disabled" | "forbidden"
  /** Every other slot's notifications are sent after the next slot's. */
  readonly reorder: boolean
  /** `truncated`: accounts have half their data. `garbled`: their data is not in the encoding it claims. */
  readonly accounts: "ok" | "truncated" | "garbled"
  /** Every socket is cut after each so many slots; 0 is never. */
  readonly dropEverySlots: number
  /** One slot is left out after each so many; 0 is never. */
  readonly skipEverySlots: number
  /** The share of `getBlock` calls that fail, from 0 to 1: the same ones on every run. */
  readonly blockFailures: number
  /** Blocks of these slots, both included, are answered with half their text; null is none. */
  readonly truncatedBlocks: SlotRange | null
  /** Blocks before this slot have been cleaned up; 0 is none. */
  readonly prunedBelow: number
  /** The node answers, but no block is made; slots pass. */
  readonly halted: boolean
}

/** Slots from one to another, both included. */
export interface SlotRange {
  readonly from: number
  readonly to: number
}

/** A node without faults. */
export const healthy: Ailment = {
  http: "ok",
  sockets: "ok",
  blockTimes: "ok",
  lag: Duration.zero,
  duplicates: false,
  searches: "ok",
  reorder: false,
  accounts: "ok",
  dropEverySlots: 0,
  skipEverySlots: 0,
  blockFailures: 0,
  truncatedBlocks: null,
  prunedBelow: 0,
  halted: false
}

/** `100-200`: the slots from 100 to 200. */
const SlotRangeText = Schema.String.check(Schema.isPattern(/^\d{1,15}-\d{1,15}$/u))

const rangeOf = (text: string): SlotRange => {
  const [from = 0, to = 0] = text.split("-").map(Number)
  return { from, to }
}

/** The initial faults: `SIMULATOR_FAULTS_HTTP=503`, `SIMULATOR_FAULTS_LAG="250 millis"` and so on. */
export const ailmentConfig: Config.Config<Ailment> = Config.all({
  http: Config.Literals(["ok", "503", "429", "frozen", "redirect"], "HTTP").pipe(Config.withDefault(healthy.http)),
  sockets: Config.Literals(["ok", "refused"], "SOCKETS").pipe(Config.withDefault(healthy.sockets)),
  blockTimes: Config.Literals(["ok", "1970"], "BLOCK_TIMES").pipe(Config.withDefault(healthy.blockTimes)),
  lag: durationSetting("LAG").pipe(Config.withDefault(healthy.lag)),
  duplicates: Config.Boolean("DUPLICATES").pipe(Config.withDefault(healthy.duplicates)),
  searches: Config.Literals(["ok", "excluded", "too_many", "disabled", "forbidden"], "SEARCHES").pipe(
    Config.withDefault(healthy.searches)
  ),
  reorder: Config.Boolean("REORDER").pipe(Config.withDefault(healthy.reorder)),
  accounts: Config.Literals(["ok", "truncated", "garbled"], "ACCOUNTS").pipe(Config.withDefault(healthy.accounts)),
  dropEverySlots: countSetting("DROP_EVERY_SLOTS", healthy.dropEverySlots),
  skipEverySlots: countSetting("SKIP_EVERY_SLOTS", healthy.skipEverySlots),
  blockFailures: amountSetting("BLOCK_FAILURES", healthy.blockFailures),
  truncatedBlocks: Config.schema(SlotRangeText, "TRUNCATED_BLOCKS").pipe(
    Config.map((text): SlotRange | null => rangeOf(text)),
    Config.withDefault(healthy.truncatedBlocks)
  ),
  prunedBelow: countSetting("PRUNED_BELOW", healthy.prunedBelow),
  halted: Config.Boolean("HALTED").pipe(Config.withDefault(healthy.halted))
}).pipe(Config.nested("SIMULATOR_FAULTS"))

/** The faults of a running node. */
export interface Faults extends Ailing<Ailment> {
  /** Cuts every open WebSocket connection without a closing handshake. Clients may connect again at once. */
  readonly dropSockets: Effect.Effect<void>
  /** Begins a new ledger at a low slot, with another genesis hash, and cuts every connection. */
  readonly resetLedger: Effect.Effect<void>
  /** Leaves out this many slots after the one that is already begun. */
  readonly skipSlots: (slots: number) => Effect.Effect<void>
  /** Applies the recurring faults of a finished slot. */
  readonly strike: (slot: number) => void
}

const isDue = (slot: number, every: number): boolean => every > 0 && slot % every === 0

/** The faults of one node, given the actions that only it can take. */
export const makeFaults = (
  initial: Ailment,
  node: {
    readonly dropSockets: () => void
    readonly skipSlots: (slots: number) => void
    readonly resetLedger: () => void
  }
): Faults => {
  const ailing = makeAiling(initial, healthy)
  return {
    ...ailing,
    dropSockets: Effect.sync(node.dropSockets),
    resetLedger: Effect.sync(() => {
      node.resetLedger()
      node.dropSockets()
    }),
    skipSlots: (slots) => Effect.sync(() => node.skipSlots(slots)),
    strike: (slot) => {
      const current = ailing.current()
      if (isDue(slot, current.dropEverySlots)) {
        node.dropSockets()
      }
      if (isDue(slot, current.skipEverySlots)) {
        node.skipSlots(1)
      }
    }
  }
}
