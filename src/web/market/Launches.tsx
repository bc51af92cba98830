import { useRef, useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import type { MarketEvent } from "../data/marketStream.ts"
import { useMarket } from "../data/useLive.ts"
import { useRead } from "../data/useRead.ts"
import { Figure } from "../parts/Figure.tsx"
import { WalletLink, When } from "../parts/Links.tsx"
import { Panel } from "../parts/Panel.tsx"
import { Empty, Shown } from "../parts/States.tsx"
import { ageWords, because } from "../parts/words.ts"
import { symbolOf, TokenName } from "./TokenName.tsx"
import { EVERY_MS, type Span } from "./windows.ts"

type Row = Answer<"GET /api/v1/market/discovery">["data"][number]
type Stage = Row["stage"]
type Launch = Answer<"GET /api/v1/launches/:mint">["data"]

const stages: ReadonlyArray<readonly [stage: Stage, title: string, empty: string]> = [
  ["new", "New", "Nothing was launched in this window."],
  ["graduating", "Graduating", "No token is close to the end of its curve."],
  ["graduated", "Graduated", "No token left its curve in this window."]
]

const ROWS = 12
/** Shortest time between two reads after launches, and the time between reads without any. */
const SOON_MS = 5000
const SLOW_MS = 20_000
/** Milliseconds between two reads of the first buyers that are shown. */
const BUYERS_MS = 10_000

const Buyers = ({ of: { firstBuyers } }: { readonly of: Launch }) =>
  firstBuyers.rows === null || firstBuyers.rows.length === 0 ? (
    <Empty>
      {firstBuyers.rows === null
        ? `The first buyers are unknown${because(firstBuyers.coverage)}.`
        : "Nobody has bought."}
    </Empty>
  ) : (
    <ol class="plain-list buyers">
      {firstBuyers.rows.map(({ afterMs, isCreator, wallet }) => (
        <li key={wallet} class="row spread">
          <span>
            <WalletLink wallet={wallet} /> {isCreator === true && <span class="tag">creator</span>}
          </span>
          <span class="soft">{afterMs === 0 ? "in the same block" : `after ${ageWords(afterMs)}`}</span>
        </li>
      ))}
    </ol>
  )

const FirstBuyers = ({ mint, name }: { readonly mint: string; readonly name: string }) => {
  const [isOpen, setOpen] = useState(false)
  const read = useRead("GET /api/v1/launches/:mint", isOpen ? { path: { mint } } : null, BUYERS_MS)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        First buyers
        <span class="hidden">
          {" "}
          of <bdi>{name}</bdi>
        </span>
      </summary>
      {isOpen && (
        <Shown read={read} what="the first buyers" rows={3}>
          {({ data }) => <Buyers of={data} />}
        </Shown>
      )}
    </details>
  )
}

const FULL = 100

/** Progress on the curve as a bar with the share beside it. A graduated token has none. */
const Progress = ({ row: { curveProgressPct, graduatedAtMs } }: { readonly row: Row }) =>
  graduatedAtMs !== null ? null : (
    <span class="row progress">
      <progress
        max={FULL}
        {...(curveProgressPct.value === null ? {} : { value: Number(curveProgressPct.value) })}
        aria-label="Progress on the curve"
      />
      <Figure of={curveProgressPct} short />
    </span>
  )

const Card = ({ row }: { readonly row: Row }) => {
  const { createdAtMs, graduatedAtMs, holders, launchpad, marketCapUsd, platform, token, traders, volumeUsd } = row
  return (
    <li class="launch">
      <div class="row spread">
        <TokenName token={token} />
        <span class="soft age">
          <When atMs={graduatedAtMs ?? createdAtMs} />
          <br />
          {platform ?? launchpad ?? "–"}
        </span>
      </div>
      <Progress row={row} />
      <dl class="inline">
        <div>
          <dt>Cap</dt>
          <dd>
            <Figure of={marketCapUsd} short />
          </dd>
        </div>
        <div>
          <dt>Volume</dt>
          <dd>
            <Figure of={volumeUsd} short />
          </dd>
        </div>
        <div>
          <dt>Traders</dt>
          <dd>
            <Figure of={traders} short />
          </dd>
        </div>
        <div>
          <dt>Holders</dt>
          <dd>
            <Figure of={holders} short />
          </dd>
        </div>
      </dl>
      <FirstBuyers mint={token.address} name={symbolOf(token)} />
    </li>
  )
}

/** The tokens at one stage. */
const Stages = ({
  empty,
  span,
  stage,
  title
}: {
  readonly span: Span
  readonly stage: Stage
  readonly title: string
  readonly empty: string
}) => {
  const ring = useRef(0)
  /** Reads again when a token was launched or left its curve, at most every `SOON_MS`. */
  const changed = ({ type }: MarketEvent) => {
    if ((type === "launch" || type === "graduation") && Date.now() > ring.current + SOON_MS) {
      ring.current = Date.now()
      read.again()
    }
  }
  const isLive = useMarket({ channel: stage === "new" ? "launches" : "graduations" }, changed)
  const everyMs = isLive ? SLOW_MS : EVERY_MS
  const query = { stage, window: span, limit: ROWS }
  const read = useRead("GET /api/v1/market/discovery", { query }, () => everyMs)
  return (
    <Panel title={title} read={read} everyMs={everyMs} rows={ROWS}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty>{empty}</Empty>
        ) : (
          <ul class="plain-list">
            {data.map((row) => (
              <Card key={row.token.address} row={row} />
            ))}
          </ul>
        )
      }
    </Panel>
  )
}

/** New, graduating and graduated tokens beside one another. */
export const Launches = ({ span }: { readonly span: Span }) => (
  <div class="columns">
    {stages.map(([stage, title, empty]) => (
      <Stages key={stage} span={span} stage={stage} title={title} empty={empty} />
    ))}
  </div>
)
