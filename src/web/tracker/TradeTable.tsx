/** Trades of tracked wallets, and how they arrive. */
import type { LiveTrades } from "../data/useLiveTrades.ts"
import type { TrackedTrade } from "../data/trackerStream.ts"
import { Units } from "../parts/Figure.tsx"
import { TimeOfDay, TokenLink, WalletLink } from "../parts/Links.tsx"
import { Amount } from "../parts/Amount.tsx"
import { Loading } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { timeText } from "../parts/words.ts"

const states = {
  connecting: "Connecting",
  live: "Live",
  lost: "Not live: reconnecting, and reading every 5 s meanwhile",
  refused: "Not live: reading every 5 s",
  idle: "No wallet is tracked"
} as const

const gapReasons: Readonly<Record<string, string>> = {
  source_gap: "blocks of the chain could not be read",
  behind: "the service fell behind",
  expired: "the connection was lost for longer than trades are kept",
  unknown_stream: "the service restarted",
  lost: "frames were lost on the way"
}

const gapWords = ({ fromMs, reason, toMs }: NonNullable<LiveTrades["gap"]>): string =>
  `Trades may be missing ${fromMs === null ? "up to" : `from ${timeText(fromMs)} to`} ${timeText(toMs)}: ` +
  `${gapReasons[reason] ?? reason}.`

/** The state of the connection in words. Screen readers announce its changes. */
export const LiveState = ({ gap, state }: Pick<LiveTrades, "gap" | "state">) => (
  <div role="status">
    <span class={state === "live" ? "live up" : state === "connecting" || state === "idle" ? "soft" : "live warn"}>
      {states[state]}
    </span>
    {gap !== null && <p class="warn">{gapWords(gap)}</p>}
  </div>
)

const columnsOf = (labels: ReadonlyMap<string, string | null> | null): ReadonlyArray<Column<TrackedTrade>> => [
  { name: "Time", cell: ({ ts }) => <TimeOfDay atMs={ts} /> },
  ...(labels === null
    ? []
    : [
        {
          name: "Wallet",
          cell: ({ wallet }: TrackedTrade) => <WalletLink wallet={wallet} label={labels.get(wallet) ?? null} />
        }
      ]),
  { name: "Side", cell: ({ side }) => <span class={side === "buy" ? "up" : "down"}>{side}</span> },
  { name: "Token", cell: ({ mint, symbol }) => <TokenLink mint={mint} symbol={symbol} /> },
  {
    name: "Amount",
    isNumber: true,
    cell: ({ amount, decimals }) => <Units amount={amount} decimals={decimals} aligned />
  },
  { name: "Value", isNumber: true, cell: ({ volume_usd }) => <Amount of={volume_usd} unit="usd" short /> },
  { name: "Price", isNumber: true, cell: ({ price_usd }) => <Amount of={price_usd} unit="usd" priced /> },
  { name: "Market cap", isNumber: true, cell: ({ market_cap_usd }) => <Amount of={market_cap_usd} unit="usd" short /> },
  { name: "Venue", cell: ({ dex }) => dex ?? "–" }
]

/** The newest trades. Without `labels` all of them belong to one wallet. */
export const TradeTable = ({
  isLoading,
  labels,
  trades
}: {
  readonly trades: ReadonlyArray<TrackedTrade>
  readonly isLoading: boolean
  readonly labels: ReadonlyMap<string, string | null> | null
}) =>
  isLoading ? (
    <Loading what="trades" rows={6} />
  ) : (
    <Table
      caption="Newest trades first"
      columns={columnsOf(labels)}
      rows={trades}
      keyOf={({ eventId }) => eventId}
      empty="No trade has been seen since the wallets were added."
    />
  )
