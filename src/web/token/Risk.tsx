import type { Answer } from "../data/contract.ts"
import type { Read } from "../data/useRead.ts"
import { When } from "../parts/Links.tsx"
import { Panel } from "../parts/Panel.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { ageWords, because, reasonWords } from "../parts/words.ts"

export type RiskAnswer = Answer<"GET /api/v1/tokens/:chain/:address/risk">
type Tag = RiskAnswer["data"]["tags"][number]

/** Milliseconds between two reads of the signals. */
export const RISK_EVERY_MS = 60_000

const names: Readonly<Record<string, string>> = {
  mint_authority_active: "More can be minted",
  freeze_authority_active: "Balances can be frozen",
  concentrated_top10: "Ten wallets hold a large share",
  developer_holding: "The developer holds tokens",
  developer_sold_all: "The developer sold all",
  sniper_holding: "Snipers hold tokens",
  insider_holding: "Insiders hold tokens",
  bundled_holding: "Bundled buyers hold tokens",
  suspected_wash_volume: "Volume looks like wash trading",
  lp_not_burned: "Liquidity can be withdrawn"
}

/** A signal in words. */
export const namesOf = (code: string): string => names[code] ?? reasonWords(code)

const states = { present: "Yes", absent: "No", unknown: "Unknown" } as const

const columns: ReadonlyArray<Column<Tag>> = [
  { name: "Signal", cell: ({ code }) => namesOf(code) },
  {
    name: "State",
    cell: ({ severity, state }) => (
      <span
        class={`signal ${state} ${severity}`}
        title={severity === "warning" ? "A warning when present" : "Information"}
      >
        {states[state]}
      </span>
    )
  },
  {
    name: "Proof",
    cell: ({ coverage, source, staleAfterMs, status }) =>
      source === "none" ? (
        "no source"
      ) : (
        <span title={staleAfterMs === null ? undefined : `Valid for ${ageWords(staleAfterMs)}`}>
          {source.replaceAll("-", " ")}, {status}
          {because(coverage)}
        </span>
      )
  },
  { name: "Observed", isNumber: true, cell: ({ observedAtMs }) => <When atMs={observedAtMs} /> }
]

/** Risk signals of one token, each with its source. */
export const Risk = ({ read }: { readonly read: Read<RiskAnswer> }) => {
  return (
    <Panel title="Risk" read={read} everyMs={RISK_EVERY_MS} rows={10}>
      {({ data: { tags } }) => (
        <Table
          caption="Observations, not a score and not advice. An unknown signal does not clear a token."
          columns={columns}
          rows={tags}
          keyOf={({ code }) => code}
        />
      )}
    </Panel>
  )
}
