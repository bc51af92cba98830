import { Config, Duration, Effect, Schema } from "effect"
import { amountSetting, countSetting, durationSetting } from "../../domain/countSetting.ts"
import { type Ailing, makeAiling } from "./ailing.ts"

/** The faults of the node. */
export interface Ailment {
  /**
   * What happens to HTTP requests and handshakes. `frozen` accepts them, never answers, and goes silent on open
   * sockets; `redirect` answers with another address.
   */
  readonly http: "ok" | "503" | "429" | "frozen" | "redirect"
  /** `refused`: no new WebSocket opens; open ones stay. */
  readonly sockets: "ok" | "refused"
  /** `1970`: the times of blocks come from a clock that starts at the Unix epoch. The clock sysvar stays right. */
  readonly blockTimes: "ok" | "1970"
  /** Delay of every answer and notification. */
  readonly lag: Duration.Duration
  /** Delay of every answer to `getBlock`, in milliseconds. */
  readonly blockLagMs: number
  /** Every notification is sent twice. */
  readonly duplicates: boolean
  /**
   * How `getProgramAccounts` is refused: the program is not indexed (-32010), it has too many accounts (-32602), the
   * method is disabled (HTTP 410), or forbidden (HTTP 403).
   */
  readonly searches: "ok" | "excluded" | "too_many" | "disabled" | "forbidden"
  /** The notifications of every other slot are sent after those of the next slot. */
  readonly reorder: boolean
  /** `truncated`: accounts have half their data. `garbled`: their data is not in the encoding it claims. */
  readonly accounts: "ok" | "truncated" | "garbled"
  /** All sockets are cut after this many slots, again and again; 0 is never. */
  readonly dropEverySlots: number
  /** One slot is left out after this many, again and again; 0 is never. */
  readonly skipEverySlots: number
  /** Share of `getBlock` calls that fail, from 0 to 1. Every run fails the same calls. */
  readonly blockFailures: number
  /** The answers for blocks of these slots contain half their text; null for none. */
  readonly truncatedBlocks: SlotRange | null
  /** Blocks before this slot have been cleaned up; 0 for none. */
  readonly prunedBelow: number
  /** The node answers and slots pass, but no blocks are made. */
  readonly halted: boolean
}

/** A range of slots. Both ends are included. */
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
  blockLagMs: 0,
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

/** `100-200` stands for the slots from 100 to 200. */
const SlotRangeText = Schema.String.check(Schema.isPattern(/^\d{1,15}-\d{1,15}$/u))

const rangeOf = (text: string): SlotRange => {
  const [from = 0, to = 0] = text.split("-").map(Number)
  return { from, to }
}

/** The faults at the start: `SIMULATOR_FAULTS_HTTP=503`, `SIMULATOR_FAULTS_LAG="250 millis"` and so on. */
export const ailmentConfig: Config.Config<Ailment> = Config.all({
  http: Config.Literals(["ok", "503", "429", "frozen", "redirect"], "HTTP").pipe(Config.withDefault(healthy.http)),
  sockets: Config.Literals(["ok", "refused"], "SOCKETS").pipe(Config.withDefault(healthy.sockets)),
  blockTimes: Config.Literals(["ok", "1970"], "BLOCK_TIMES").pipe(Config.withDefault(healthy.blockTimes)),
  lag: durationSetting("LAG").pipe(Config.withDefault(healthy.lag)),
  blockLagMs: durationSetting("BLOCK_LAG").pipe(Config.map(Duration.toMillis), Config.withDefault(healthy.blockLagMs)),
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
  /** Cuts every open WebSocket without a closing handshake. Clients may reconnect at once. */
  readonly dropSockets: Effect.Effect<void>
  /** Starts a new ledger at a low slot with another genesis hash, and cuts every connection. */
  readonly resetLedger: Effect.Effect<void>
  /** Leaves out this many slots after the slot that has already begun. */
  readonly skipSlots: (slots: number) => Effect.Effect<void>
  /** Applies the recurring faults after a slot is finished. */
  readonly strike: (slot: number) => void
}

const isDue = (slot: number, every: number): boolean => every > 0 && slot % every === 0

/** The faults of one node. Some of them need actions that only the node can take. */
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
