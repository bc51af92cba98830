/** Encoding of live frames. The body is encoded once and shared by all streams; only the head differs. */
import type { ControlFrame, LiveEvent, PnlBody, SnapshotBody } from "../domain/wallets/LiveFrame.ts"
import type { TrackerTrade } from "../domain/wallets/Tracker.ts"

/** Maximum length of a frame, in bytes. */
export const MOST_FRAME_BYTES = 256 * 1024
/** Upper bound of the head, in bytes. */
const HEAD_BYTES = 100

/** A frame body without sequence number. Its bytes are dropped when it is too old to be replayed. */
export interface SharedFrame {
  readonly type: LiveEvent["type"] | "snapshot"
  /** Bytes after the head. */
  readonly length: number
  /** Buffer shared with other frames of the same batch; null once dropped. */
  slab: Buffer | null
  readonly at: number
}

/** Copies the body to `target` and returns the offset after it. */
export const copyRest = ({ at, length, slab }: SharedFrame, target: Buffer, to: number): number =>
  to + (slab?.copy(target, to, at, at + length) ?? 0)

/** Type and JSON object of a frame to encode. */
interface UnencodedFrame {
  readonly type: SharedFrame["type"]
  readonly json: string
}

const COMMA = 44

/** Encodes frames into one buffer, each with a comma in place of its first brace, so that a head can precede it. */
const encode = (drafts: ReadonlyArray<UnencodedFrame>): ReadonlyArray<SharedFrame> => {
  const slab = Buffer.allocUnsafeSlow(drafts.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0))
  let at = 0
  return drafts.map(({ json, type }) => {
    const length = slab.write(json, at)
    slab[at] = COMMA
    at += length
    return { type, length, slab, at: at - length }
  })
}

/** The head of a frame. */
export const headOf = (type: SharedFrame["type"], seq: number, sentAtMs: number): string =>
  `{"type":"${type}","seq":${seq},"sentAtMs":${sentAtMs}`

const digits = (amount: bigint | null): string | null => (amount === null ? null : amount.toString())

const feesJson = (fees: TrackerTrade["fees"]) => ({
  priorityLamports: digits(fees.priorityLamports),
  tipLamports: digits(fees.tipLamports),
  frontEndUsd: fees.frontEndUsd,
  frontEndLamports: digits(fees.frontEndLamports)
})

const tradeJson = (trade: TrackerTrade): string =>
  JSON.stringify({ ...trade, amount: digits(trade.amount), fees: feesJson(trade.fees) })

const quantitiesJson = ({ inherited, known, received, unpriced }: PnlBody["quantities"]) => ({
  known: digits(known),
  inherited: digits(inherited),
  received: digits(received),
  unpriced: digits(unpriced)
})

const pnlJson = (pnl: PnlBody): string =>
  JSON.stringify({ ...pnl, holding: digits(pnl.holding), quantities: quantitiesJson(pnl.quantities) })

const bodyJson = (event: LiveEvent): string => {
  switch (event.type) {
    case "trade": {
      const { amount, fees, type: _, ...rest } = event.body
      return JSON.stringify({ ...rest, amount: digits(amount), fees: feesJson(fees) })
    }
    case "balance_update":
      return JSON.stringify({ ...event.body, balance: digits(event.body.balance) })
    case "pnl":
      return pnlJson(event.body)
    case "pnl_summary":
      return JSON.stringify(event.body)
  }
}

/** Events encoded as frames. */
export const framesOf = (events: ReadonlyArray<LiveEvent>): ReadonlyArray<SharedFrame> =>
  encode(events.map((event) => ({ type: event.type, json: bodyJson(event) })))

/** The first texts that fit into `bytes`, commas included, as a JSON array, and the bytes left. */
const fitting = (texts: ReadonlyArray<string>, bytes: number) => {
  let left = bytes
  let count = 0
  for (const text of texts) {
    left -= Buffer.byteLength(text) + 1
    if (left < 0) {
      break
    }
    count++
  }
  const kept = texts.slice(0, count)
  return { text: `[${kept.join(",")}]`, left: kept.reduce((sum, text) => sum - Buffer.byteLength(text) - 1, bytes) }
}

/**
 * The snapshot as a frame of at most `MOST_FRAME_BYTES`. Wallets have priority, then summaries, trades and positions; of
 * each list the first entries are kept.
 */
export const snapshotFrame = ({
  pnl,
  summaries,
  trades,
  wallets,
  ...rest
}: SnapshotBody): ReadonlyArray<SharedFrame> => {
  const fixed = JSON.stringify(rest)
  const lists = ',"wallets":[],"trades":[],"pnl":[],"summaries":[]'.length
  const room = MOST_FRAME_BYTES - HEAD_BYTES - Buffer.byteLength(fixed) - lists
  const all = fitting(
    wallets.map((wallet) => JSON.stringify(wallet)),
    room
  )
  const sums = fitting(
    summaries.map((summary) => JSON.stringify(summary)),
    all.left
  )
  const newest = fitting(trades.map(tradeJson), sums.left)
  const positions = fitting(pnl.map(pnlJson), newest.left)
  const listed = `"wallets":${all.text},"trades":${newest.text},"pnl":${positions.text},"summaries":${sums.text}`
  return encode([{ type: "snapshot", json: `${fixed.slice(0, -1)},${listed}}` }])
}

/** A control frame as text. */
export const controlText = (frame: ControlFrame): string => JSON.stringify(frame)
