/** Frames as they stand on the wire: what they say is spelled once, whoever they are for. */
import type { ControlFrame, LiveEvent, PnlBody, SnapshotBody } from "../domain/LiveFrame.ts"
import type { TrackerTrade } from "../domain/Tracker.ts"

/** How long a frame may be, in bytes. */
export const MOST_FRAME_BYTES = 256 * 1024
/** Room for what stands before what is shared. */
const HEAD_BYTES = 100

/** A frame without its place in a stream. The bytes may be given up, when it is too old to be sent again. */
export interface SharedFrame {
  readonly type: LiveEvent["type"] | "snapshot"
  readonly length: number
  /** Everything after `sentAtMs`. */
  rest: Buffer | null
}

const shared = (type: SharedFrame["type"], json: string): SharedFrame => {
  const rest = Buffer.from(`,${json.slice(1)}`)
  return { type, rest, length: rest.length }
}

/** What stands before the shared part of a frame. */
export const headOf = (type: SharedFrame["type"], seq: number, sentAtMs: number): string =>
  `{"type":"${type}","seq":${seq},"sentAtMs":${sentAtMs}`

const digits = (amount: bigint | null): string | null => (amount === null ? null : amount.toString())

const tradeJson = (trade: TrackerTrade): string => JSON.stringify({ ...trade, amount: digits(trade.amount) })

const pnlJson = (pnl: PnlBody): string => JSON.stringify({ ...pnl, holding: digits(pnl.holding) })

const bodyJson = (event: LiveEvent): string => {
  switch (event.type) {
    case "trade": {
      const { amount, type: _, ...rest } = event.body
      return JSON.stringify({ ...rest, amount: digits(amount) })
    }
    case "balance_update":
      return JSON.stringify({ ...event.body, balance: digits(event.body.balance) })
    case "pnl":
      return pnlJson(event.body)
    case "pnl_summary":
      return JSON.stringify(event.body)
  }
}

/** The event as a frame. */
export const frameOf = (event: LiveEvent): SharedFrame => shared(event.type, bodyJson(event))

/** As many of the texts as fit into so many bytes, commas included, and what is left. */
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
 * The snapshot as a frame that is not too long. What a client cannot do without comes first; of the others the first ones
 * stay: summaries, then trades, then positions.
 */
export const snapshotFrame = ({ pnl, summaries, trades, wallets, ...rest }: SnapshotBody): SharedFrame => {
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
  return shared("snapshot", `${fixed.slice(0, -1)},${listed}}`)
}

/** A control frame as text. */
export const controlText = (frame: ControlFrame): string => JSON.stringify(frame)
