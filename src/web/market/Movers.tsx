import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { useMarket } from "../data/useLive.ts"
import { useRead } from "../data/useRead.ts"
import { Choice } from "../parts/Choice.tsx"
import { Figure } from "../parts/Figure.tsx"
import { Panel } from "../parts/Panel.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { because } from "../parts/words.ts"
import { TokenName } from "./TokenName.tsx"
import { EVERY_MS, LIVE_MS, type Span } from "./windows.ts"

type Movement = Answer<"GET /api/v1/market/movement">
type Row = Movement["data"][number]
type Rank = Movement["meta"]["ranking"]["rank"]

const ranks: ReadonlyArray<readonly [Rank, string]> = [
  ["gainers", "Gainers"],
  ["losers", "Losers"],
  ["volume", "Volume"],
  ["trades", "Trades"],
  ["traders", "Traders"]
]

const ROWS = 10

const columns: ReadonlyArray<Column<Row>> = [
  { name: "Token", cell: ({ token }) => <TokenName token={token} /> },
  { name: "Price", isNumber: true, cell: ({ priceUsd }) => <Figure of={priceUsd} /> },
  { name: "Change", isNumber: true, cell: ({ changePct }) => <Figure of={changePct} signed short /> },
  { name: "Volume", isNumber: true, cell: ({ volumeUsd }) => <Figure of={volumeUsd} short /> },
  { name: "Trades", isNumber: true, cell: ({ trades }) => <Figure of={trades} /> },
  { name: "Traders", isNumber: true, cell: ({ traders }) => <Figure of={traders} /> },
  { name: "Liquidity", isNumber: true, cell: ({ liquidityUsd }) => <Figure of={liquidityUsd} short /> }
]

const captionOf = ({ excluded }: Movement["meta"]): string =>
  `Tokens with at least $1 000 of liquidity; ${excluded.unknownRank} that cannot be ranked are left out.`

/** Tokens ranked by what happened to them in a window. */
export const Movers = ({ span }: { readonly span: Span }) => {
  const [rank, setRank] = useState<Rank>("gainers")
  const key = `${span} ${rank}`
  const [live, setLive] = useState<{ readonly key: string; readonly rows: ReadonlyArray<Row> } | null>(null)
  const isLive = useMarket({ channel: "movers", window: span, rank }, (event) => {
    if (event.type === "movers" || (event.type === "snapshot" && event.channel === "movers")) {
      setLive({ key, rows: event.data.rows.slice(0, ROWS) })
    }
  })
  const query = { window: span, rank, limit: ROWS }
  const read = useRead("GET /api/v1/market/movement", { query }, () => (isLive ? LIVE_MS : EVERY_MS))
  const rows = isLive && live?.key === key ? live.rows : null
  return (
    <Panel
      title="Movers"
      read={read}
      everyMs={EVERY_MS}
      isLive={rows !== null}
      rows={ROWS}
      controls={<Choice label="Rank by" options={ranks} value={rank} onChange={setRank} />}
    >
      {({ data, meta }) => (
        <Table
          caption={captionOf(meta)}
          columns={columns}
          rows={rows ?? data}
          keyOf={({ token }) => token.address}
          empty={`No token with at least $1 000 of liquidity can be ranked in this window${because(meta.coverage)}.`}
        />
      )}
    </Panel>
  )
}
