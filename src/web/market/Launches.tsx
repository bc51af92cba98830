import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { Choice } from "../parts/Choice.tsx"
import { Figure } from "../parts/Figure.tsx"
import { When } from "../parts/Links.tsx"
import { Panel } from "../parts/Panel.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { TokenName } from "./TokenName.tsx"
import { EVERY_MS, type Span } from "./windows.ts"

type Row = Answer<"GET /api/v1/market/discovery">["data"][number]
type Stage = Row["stage"]

const stages: ReadonlyArray<readonly [Stage, string]> = [
  ["new", "New"],
  ["graduating", "Graduating"],
  ["graduated", "Graduated"],
  ["trending", "Trending"]
]

const ROWS = 10

const columns: ReadonlyArray<Column<Row>> = [
  { name: "Token", cell: ({ token }) => <TokenName token={token} /> },
  { name: "Launchpad", cell: ({ launchpad, platform }) => platform ?? launchpad ?? "–" },
  {
    name: "Since",
    isNumber: true,
    cell: ({ createdAtMs, graduatedAtMs }) => <When atMs={graduatedAtMs ?? createdAtMs} />
  },
  { name: "Curve", isNumber: true, cell: ({ curveProgressPct }) => <Figure of={curveProgressPct} short /> },
  { name: "Market cap", isNumber: true, cell: ({ marketCapUsd }) => <Figure of={marketCapUsd} short /> },
  { name: "Volume", isNumber: true, cell: ({ volumeUsd }) => <Figure of={volumeUsd} short /> },
  { name: "Traders", isNumber: true, cell: ({ traders }) => <Figure of={traders} /> }
]

/** New, graduating, graduated and trending tokens. */
export const Launches = ({ span }: { readonly span: Span }) => {
  const [stage, setStage] = useState<Stage>("new")
  const read = useRead("GET /api/v1/market/discovery", { query: { stage, window: span, limit: ROWS } }, EVERY_MS)
  return (
    <Panel
      title="Launches"
      read={read}
      everyMs={EVERY_MS}
      rows={ROWS}
      controls={<Choice label="Stage" options={stages} value={stage} onChange={setStage} />}
    >
      {({ data }) => (
        <Table
          caption="Age since launch; for graduated tokens since graduation."
          columns={columns}
          rows={data}
          keyOf={({ token }) => token.address}
          empty="No token is at this stage in this window."
        />
      )}
    </Panel>
  )
}
