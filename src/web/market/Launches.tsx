import { useRef, useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import type { MarketEvent } from "../data/marketStream.ts"
import { useMarket } from "../data/useLive.ts"
import { useRead } from "../data/useRead.ts"
import { Figure } from "../parts/Figure.tsx"
import { WalletLink, When } from "../parts/Links.tsx"
import { Panel } from "../parts/Panel.tsx"
import { Empty, Shown } from "../parts/States.tsx"
import { ageWords, because, briefly, reasonWords } from "../parts/words.ts"
import { symbolOf, TokenName } from "./TokenName.tsx"
import { EVERY_MS, type Span } from "./windows.ts"

type Row = Answer<"GET /api/v1/market/discovery">["data"][number]
type Stage = Row["stage"]
type Buyer = NonNullable<Answer<"GET /api/v1/tokens/:chain/:address/first-buyers">["data"]["rows"]>[number]
type Short = Answer<"GET /api/v1/tokens/first-buyers">["data"][number]

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
/** Milliseconds between two reads of the first buyers of all cards. */
const SHORTS_MS = 30_000

/** How buyers bought together, in words. Nothing for a wallet that bought alone. */
const bundles: Readonly<Record<Buyer["bundle"], readonly [tag: string, why: string] | null>> = {
  transaction: ["bundle", "One transaction holds the first purchases of this wallet and of another"],
  creation_slot: ["bundle", "Bought in the slot of the creation, together with other wallets"],
  none: null
}

const Bought = ({ of: { afterMs, bundle, heldPct, isCreator, isHolding, wallet } }: { readonly of: Buyer }) => {
  const together = bundles[bundle]
  return (
    <li class="row spread">
      <span>
        <WalletLink wallet={wallet} /> {isCreator === true && <span class="tag">creator</span>}{" "}
        {together !== null && (
          <span class="tag" title={together[1]}>
            {together[0]}
          </span>
        )}
        <span class="under">{afterMs === 0 ? "bought at once" : `bought after ${ageWords(afterMs)}`}</span>
      </span>
      <span>
        {isHolding === false ? (
          <span class="soft">sold all</span>
        ) : (
          <>
            <span class="soft">holds</span> <Figure of={heldPct} short />
          </>
        )}
      </span>
    </li>
  )
}

const Buyers = ({ of: { data, meta } }: { readonly of: Answer<"GET /api/v1/tokens/:chain/:address/first-buyers"> }) =>
  data.rows === null || data.rows.length === 0 ? (
    <Empty>
      {data.rows === null ? `The first buyers are unknown${because(meta.coverage)}.` : "Nobody has bought."}
    </Empty>
  ) : (
    <ol class="plain-list buyers" tabIndex={0} aria-label="In the order of their purchases">
      {data.rows.map((row) => (
        <Bought key={row.wallet} of={row} />
      ))}
    </ol>
  )

/** How many of the first buyers still hold the token, and how much of it. */
const InShort = ({ of: row }: { readonly of: Short | undefined }) => {
  if (row === undefined) {
    return <span class="soft">…</span>
  }
  const { coverage, summary } = row
  if (summary === null) {
    return <span class="soft">unknown{because(coverage)}</span>
  }
  const { bundled, buyers, heldPct, holding } = summary
  if (buyers === 0) {
    return <span class="soft">none yet</span>
  }
  // Other numbers are another element, so that nothing moves inside of it.
  return (
    <span class="soft" key={`${holding} ${buyers} ${heldPct.value} ${bundled}`}>
      {holding === null ? (
        <span title={heldPct.coverage.reason === null ? undefined : reasonWords(heldPct.coverage.reason)}>
          {buyers}; holdings {briefly(heldPct.coverage)}
        </span>
      ) : (
        <>
          {holding} of {buyers} hold <Figure of={heldPct} short />
        </>
      )}
      {bundled > 0 && `, ${bundled} bundled`}
    </span>
  )
}

const FirstBuyers = ({
  mint,
  name,
  short
}: {
  readonly mint: string
  readonly name: string
  readonly short: Short | undefined
}) => {
  const [isOpen, setOpen] = useState(false)
  const path = { chain: "solana", address: mint }
  const read = useRead("GET /api/v1/tokens/:chain/:address/first-buyers", isOpen ? { path } : null, BUYERS_MS)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        First buyers
        <span class="hidden">
          {" "}
          of <bdi>{name}</bdi>
        </span>{" "}
        <InShort of={short} />
      </summary>
      {isOpen && (
        <Shown read={read} what="the first buyers" rows={3}>
          {(answer) => <Buyers of={answer} />}
        </Shown>
      )}
    </details>
  )
}

/** The first buyers of tokens in numbers, by mint. */
const useShorts = (rows: ReadonlyArray<Row>): ReadonlyMap<string, Short> => {
  // Sorted, so that another order of the same tokens is the same read.
  const addresses = rows
    .map(({ token }) => token.address)
    .toSorted()
    .join(",")
  const read = useRead("GET /api/v1/tokens/first-buyers", addresses === "" ? null : { query: { addresses } }, SHORTS_MS)
  const last = useRef<ReadonlyArray<Short>>([])
  // The list changes with each launch. Tokens that stay keep their numbers until the next answer.
  last.current = read.answer?.data ?? last.current
  return new Map(last.current.map((row) => [row.address, row]))
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

const Card = ({ row, short }: { readonly row: Row; readonly short: Short | undefined }) => {
  const { createdAtMs, graduatedAtMs, holders, launchpad, marketCapUsd, platform, token, traders, volumeUsd } = row
  return (
    <li class="launch">
      <div class="row spread">
        <TokenName token={token} />
        <span class="soft age">
          <When atMs={graduatedAtMs ?? createdAtMs} />
          <br />
          {platform ?? launchpad ?? "launchpad unknown"}
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
      <FirstBuyers mint={token.address} name={symbolOf(token)} short={short} />
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
  const shorts = useShorts(read.answer?.data ?? [])
  return (
    <Panel title={title} read={read} everyMs={everyMs} rows={ROWS}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty>{empty}</Empty>
        ) : (
          <ul class="plain-list">
            {data.map((row) => (
              <Card key={row.token.address} row={row} short={shorts.get(row.token.address)} />
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
