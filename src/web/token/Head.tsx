/** The head of a token's page. It stays in sight while the page scrolls. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { useMarket } from "../data/useLive.ts"
import { type Read, useRead } from "../data/useRead.ts"
import { useWatchlists } from "../data/watched.ts"
import { symbolOf } from "../market/TokenName.tsx"
import { type Span, spans } from "../market/windows.ts"
import { Choice } from "../parts/Choice.tsx"
import { Disc } from "../parts/Disc.tsx"
import type { Alert } from "../parts/conditions.ts"
import { CopyText } from "../parts/CopyText.tsx"
import { Facts } from "../parts/Facts.tsx"
import { Figure } from "../parts/Figure.tsx"
import { When } from "../parts/Links.tsx"
import { currentPrice, type ScalarJson, written } from "../parts/numbers.ts"
import { useTitle } from "../parts/useTitle.ts"
import { isolated, shortAddress } from "../parts/words.ts"
import { PickAlert } from "./PickAlert.tsx"
import { namesOf, type RiskAnswer } from "./Risk.tsx"
import type { FactsAnswer } from "./TokenFacts.tsx"
import type { StatsAnswer } from "./Windows.tsx"

type TokenFactsJson = FactsAnswer["data"]
type Found = Answer<"GET /api/v1/search">["data"][number]

/** The price of the last swap, or of the facts after a while without a swap. */
const usePrice = (mint: string, facts: TokenFactsJson | null): ScalarJson | null => {
  const [live, setLive] = useState<{ readonly mint: string; readonly value: string; readonly atMs: number | null }>()
  const isLive = useMarket({ channel: "price", mint }, (event) => {
    const price = event.type === "price" || (event.type === "snapshot" && event.channel === "price") ? event.data : null
    if (price !== null && price.priceUsd !== null) {
      setLive({ mint, value: price.priceUsd, atMs: price.timeMs })
    }
  })
  if (facts === null) {
    return null
  }
  return isLive && live?.mint === mint ? currentPrice(facts.priceUsd, live, Date.now()) : facts.priceUsd
}

/** What the search knows of the token: the launchpad that it came from. */
const useLaunch = (mint: string): Found | null => {
  const { answer } = useRead("GET /api/v1/search", { query: { q: mint, limit: 1 } })
  const [found] = answer?.data ?? []
  return found?.token.address === mint ? found : null
}

/** The title of the document: symbol, price and change. */
const titleOf = (symbol: string, price: ScalarJson | null, change: ScalarJson | null): string => {
  const figures = [
    ...(price === null || price.value === null ? [] : [written(price.value, "usd")]),
    ...(change === null || change.value === null
      ? []
      : [written(change.value, "percent", { short: true, signed: true })])
  ]
  return [isolated(symbol), figures.join(" ")].filter((part) => part !== "").join(" · ")
}

const Watch = ({ mint, symbol }: { readonly mint: string; readonly symbol: string }) => {
  const { isWatched, setWatched } = useWatchlists()
  const isOn = isWatched(mint)
  return (
    <button type="button" aria-pressed={isOn} onClick={() => setWatched({ mint, symbol }, !isOn)}>
      Watch
    </button>
  )
}

/** Stands in place of a figure that is being read, or could not be read. */
const Unread = ({ isFailed }: { readonly isFailed: boolean }) => <span class="soft">{isFailed ? "not read" : "…"}</span>

/** Risk signals that are present, as a button that opens them. */
const Marks = ({ onOpen, read }: { readonly read: Read<RiskAnswer>; readonly onOpen: () => void }) => {
  const tags = read.answer?.data.tags
  if (tags === undefined) {
    return <Unread isFailed={read.failure !== null} />
  }
  const warnings = tags.filter(({ severity, state }) => state === "present" && severity === "warning")
  const unknown = tags.filter(({ state }) => state === "unknown").length
  const words =
    warnings.length === 0 ? "No warning" : `${warnings.length} ${warnings.length === 1 ? "warning" : "warnings"}`
  return (
    <button
      type="button"
      class={warnings.length === 0 ? "plain marks" : "plain marks danger"}
      title={[...warnings.map(({ code }) => namesOf(code)), `${unknown} unknown`].join(", ")}
      onClick={onOpen}
    >
      <span>
        {words}
        {unknown > 0 && <span class="soft">, {unknown} unknown</span>}
      </span>
    </button>
  )
}

/** When the token was created, or else when the service first saw it. */
const Age = ({
  facts,
  isFailed,
  launch
}: {
  readonly facts: TokenFactsJson | null
  readonly isFailed: boolean
  readonly launch: Found | null
}) => {
  if (facts === null) {
    return <Unread isFailed={isFailed} />
  }
  const bornAtMs = facts.createdAtMs ?? launch?.createdAtMs ?? null
  const seenAtMs = facts.firstSeenAtMs
  return (
    <>
      <When atMs={bornAtMs ?? seenAtMs} />
      {bornAtMs === null && seenAtMs !== null && <span class="soft"> (first seen)</span>}
    </>
  )
}

/** The figures that a trader compares. */
const Figures = ({
  facts,
  holders,
  isFailed,
  launch,
  marks,
  venue,
  volume
}: {
  readonly facts: TokenFactsJson | null
  readonly holders: ScalarJson | undefined
  readonly isFailed: boolean
  readonly launch: Found | null
  readonly volume: ScalarJson | undefined
  readonly venue: string | null
  readonly marks: ComponentChildren
}) => {
  const shown = (scalar: ScalarJson | undefined) =>
    scalar === undefined ? <Unread isFailed={isFailed} /> : <Figure of={scalar} short />
  return (
    <Facts
      of={[
        ["Market cap", shown(facts?.marketCapUsd)],
        ["Liquidity", shown(facts?.liquidityUsd)],
        ["Volume", shown(volume)],
        ["Holders", shown(holders ?? facts?.holders)],
        ["Age", <Age facts={facts} isFailed={isFailed} launch={launch} />],
        ["Platform", launch?.launchpad ?? venue ?? <span class="soft">none known</span>],
        ["Risk", marks]
      ]}
    />
  )
}

/** The head: name, price with its change, and the figures that a trader compares. */
export const Head = ({
  alerts,
  facts,
  holders,
  isFailed,
  mint,
  onAlerts,
  onRisk,
  risk,
  stats,
  venue
}: {
  readonly mint: string
  /** Alerts of the token that can still fire. */
  readonly alerts: ReadonlyArray<Alert>
  /** Called after an alert was set or removed. */
  readonly onAlerts: () => void
  readonly facts: TokenFactsJson | null
  /** True when reading the facts failed. */
  readonly isFailed: boolean
  /** The number of holders, once it was read. */
  readonly holders: ScalarJson | undefined
  readonly stats: StatsAnswer | null
  readonly risk: Read<RiskAnswer>
  /** Label of the deepest pool; null while unknown. */
  readonly venue: string | null
  /** Opens the risk signals. */
  readonly onRisk: () => void
}) => {
  const [span, setSpan] = useState<Span>("24h")
  const [isPicking, setPicking] = useState(false)
  const price = usePrice(mint, facts)
  const launch = useLaunch(mint)
  const window = stats?.data.windows.find((each) => each.window === span) ?? null
  const symbol = facts === null ? shortAddress(mint) : symbolOf(facts.token)
  useTitle(titleOf(symbol, price, window?.changePct ?? null))
  const marks = <Marks read={risk} onOpen={onRisk} />
  return (
    <section class="card token-head" aria-label="Token at a glance">
      <div class="row spread">
        <div class="row names">
          <Disc mint={mint} symbol={symbol} />
          <h1>
            <bdi>{symbol}</bdi>{" "}
            {facts !== null && facts.token.name !== null && <bdi class="soft full-name">{facts.token.name}</bdi>}
          </h1>
          <span class="row mint">
            <span class="address" title={mint}>
              {shortAddress(mint)}
            </span>
            <CopyText text={mint} what="the mint" />
          </span>
        </div>
        <div class="row price">
          <strong>{price === null ? <Unread isFailed={isFailed} /> : <Figure of={price} />}</strong>
          {window !== null && <Figure of={window.changePct} signed short />}
          <Choice label="Window of the change" options={spans} value={span} onChange={setSpan} />
        </div>
        <div class="row acts">
          <button type="button" class="main" onClick={() => setPicking(true)}>
            Alert{alerts.length > 0 && ` ${alerts.length}`}
          </button>
          <Watch key={`${mint} ${symbol}`} mint={mint} symbol={symbol} />
        </div>
      </div>
      {isPicking && (
        <PickAlert
          mint={mint}
          symbol={symbol}
          priceUsd={price?.value ?? null}
          marketCapUsd={facts?.marketCapUsd.value ?? null}
          alerts={alerts}
          onClose={() => setPicking(false)}
          onDone={() => {
            setPicking(false)
            onAlerts()
          }}
        />
      )}
      <Figures
        isFailed={isFailed}
        facts={facts}
        holders={holders}
        launch={launch}
        volume={window?.volumeUsd}
        venue={venue}
        marks={marks}
      />
    </section>
  )
}
