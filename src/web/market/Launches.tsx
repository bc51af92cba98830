import { useRef, useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import type { MarketEvent } from "../data/marketStream.ts"
import { useMarket } from "../data/useLive.ts"
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
/** Shortest time between two reads after launches, and the time between reads without any. */
const SOON_MS = 5000
const SLOW_MS = 20_000

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
  const ring = useRef(0)
  /** Reads again when a token was launched or left its curve, at most every `SOON_MS`. */
  const changed = ({ type }: MarketEvent) => {
    if ((type === "launch" || type === "graduation") && Date.now() > ring.current + SOON_MS) {
      ring.current = Date.now()
      read.again()
    }
  }
  const isLive = useMarket({ channel: "launches" }, changed)
  useMarket({ channel: "graduations" }, changed)
  const query = { stage, window: span, limit: ROWS }
  const read = useRead("GET /api/v1/market/discovery", { query }, () => (isLive ? SLOW_MS : EVERY_MS))
  return (
    <Panel
      title="Launches"
      read={read}
      everyMs={isLive ? SLOW_MS : EVERY_MS}
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
