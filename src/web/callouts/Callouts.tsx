/** Callouts: tokens that users recommend, for all tokens or for one. */
import { useLocation, useRoute } from "preact-iso"
import type { Answer } from "../data/contract.ts"
import { call, type RequestFailed, urlOf } from "../data/request.ts"
import { type Pages, usePages } from "../data/usePages.ts"
import { useRead } from "../data/useRead.ts"
import { Amount, textOf } from "../parts/Amount.tsx"
import { Facts } from "../parts/Facts.tsx"
import { Figure } from "../parts/Figure.tsx"
import { changePctOf, type ScalarJson } from "../parts/numbers.ts"
import { Field, isAtFields, SelectField } from "../parts/Field.tsx"
import { textsOf } from "../parts/Form.tsx"
import { TokenLink, When } from "../parts/Links.tsx"
import { More } from "../parts/More.tsx"
import { Empty, Shown } from "../parts/States.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { ageWords } from "../parts/words.ts"

type Callout = Answer<"GET /api/v1/callouts/feed">["callouts"][number]

const READ_MS = 15_000
/** Most tokens whose price is asked for. */
const MOST_PRICES = 100

const sorts = [
  ["recent", "Newest first"],
  ["top", "By volume"]
] as const

const untilWords = (at: string): string => {
  const leftMs = Date.parse(at) - Date.now()
  return leftMs <= 0 ? "expired" : `${ageWords(leftMs)} left`
}

/** The price now and the return since the call; dashes while a price is unknown. */
const sinceFacts = (called: number | null, price: ScalarJson | null) => {
  const now = price?.value ?? null
  const change = called === null || now === null ? null : changePctOf(textOf(called), now)
  return [
    ["Return since", <Amount of={change} unit="percent" signed short why="one of the two prices is unknown" />],
    ["Price when called", <Amount of={called} unit="usd" why="no price was known" />],
    ["Price now", price === null ? "–" : <Figure of={price} />]
  ] as const
}

const Entry = ({ of: callout, price }: { readonly of: Callout; readonly price: ScalarJson | null }) => (
  <li class="card">
    <div class="row spread">
      <h2>
        <TokenLink mint={callout.mint} symbol={callout.tokenSymbol} />
        {callout.tokenName !== null && (
          <>
            {" "}
            <bdi class="soft">{callout.tokenName}</bdi>
          </>
        )}
      </h2>
      <span class="soft">
        <bdi>{callout.creator.displayName}</bdi>, <When atMs={Date.parse(callout.createdAt)} />,{" "}
        {untilWords(callout.expiresAt)}
      </span>
    </div>
    <p class="words" dir="auto">
      {callout.body}
    </p>
    <Facts
      of={[
        ...sinceFacts(callout.priceUsdAtCreate, price),
        ["Volume since", <Amount of={callout.attributedVolumeUsd} unit="usd" short />],
        ["Traders", callout.traderCount],
        ["Clicks", callout.clickCount]
      ]}
    />
    <p>
      <a href={`/c/${encodeURIComponent(callout.id)}`} target="_self">
        Share page
        <span class="hidden">
          {" "}
          of <bdi>{callout.tokenName ?? callout.mint}</bdi>
        </span>
      </a>{" "}
      {" · "}
      <a href={`/callouts?mint=${callout.mint}`}>
        More callouts of this token
        <span class="hidden">
          , <bdi>{callout.tokenName ?? callout.mint}</bdi>
        </span>
      </a>
    </p>
  </li>
)

const readPage = async (mint: string, sort: string, cursor: string | undefined, signal: AbortSignal | undefined) => {
  const options = { query: { sort, cursor, limit: 20 }, signal }
  const { callouts, nextCursor } = await (mint === ""
    ? call("GET /api/v1/callouts/feed", options)
    : call("GET /api/v1/callouts/token/:mint", { ...options, path: { mint } }))
  return { data: callouts, nextCursor }
}

const Choice = ({
  failure,
  mint,
  sort
}: {
  readonly mint: string
  readonly sort: string
  readonly failure: RequestFailed | null
}) => {
  const { route } = useLocation()
  const show = (query: { readonly mint: string; readonly sort: string }) => route(urlOf("GET /callouts", {}, query))
  const submit = (event: Event) => show({ sort, mint: textsOf(event)("mint") })
  return (
    <form class="grid" onSubmit={submit}>
      <Field key={mint} label="Token" name="mint" hint="A mint address. Empty for all tokens." failure={failure}>
        {(attributes) => (
          <input {...attributes} type="search" autocomplete="off" spellcheck={false} defaultValue={mint} />
        )}
      </Field>
      <SelectField
        label="Order"
        name="sort"
        options={sorts}
        value={sort === "top" ? "top" : "recent"}
        onChoose={(next) => show({ mint, sort: next })}
      />
      <div class="row wide">
        <button type="submit">Show</button>
        {mint !== "" && <a href="/callouts">All tokens</a>}
      </div>
    </form>
  )
}

/** Current prices of the tokens of callouts. */
const usePrices = (mints: ReadonlySet<string>): ReadonlyMap<string, ScalarJson> => {
  const addresses = Array.from(mints).slice(0, MOST_PRICES).join(",")
  const { answer } = useRead("GET /api/v1/tokens", addresses === "" ? null : { query: { addresses } }, READ_MS)
  return new Map(answer?.data.flatMap(({ address, facts }) => (facts === null ? [] : [[address, facts.priceUsd]])))
}

const Entries = ({ of: pages }: { readonly of: Pages<Callout> }) => {
  const prices = usePrices(new Set(pages.items.map(({ mint }) => mint)))
  return pages.items.length === 0 ? (
    <Empty>No callout is active.</Empty>
  ) : (
    <>
      <ul class="grid plain-list callouts">
        {pages.items.map((callout) => (
          <Entry key={callout.id} of={callout} price={prices.get(callout.mint) ?? null} />
        ))}
      </ul>
      <More of={pages} />
    </>
  )
}

/** The page of callouts. `?mint=` shows one token, `?sort=top` orders by volume. */
export const Callouts = () => {
  useTitle("Callouts")
  const { mint = "", sort = "recent" } = useRoute().query
  const pages = usePages(
    `callouts ${mint} ${sort}`,
    (cursor, signal) => readPage(mint, sort, cursor, signal),
    ({ id }) => id,
    READ_MS
  )
  const { failure } = pages.read
  const isRefused = failure !== null && pages.read.answer === null && isAtFields(failure, ["mint"])
  return (
    <div class="stack">
      <section class="card">
        <h1>Callouts</h1>
        <p class="soft">
          Tokens that users recommend, in their own words. What they write is not checked; the figures are measured.
        </p>
        <Choice mint={mint} sort={sort} failure={pages.read.failure} />
      </section>
      {isRefused ? null : (
        <Shown read={pages.read} what="callouts" rows={6}>
          {() => <Entries of={pages} />}
        </Shown>
      )}
    </div>
  )
}
