/** The columns of a list of tokens. The reader chooses which of them are shown. */
import { Figure } from "../parts/Figure.tsx"
import type { ScalarJson } from "../parts/numbers.ts"
import type { Column } from "../parts/Table.tsx"
import { ageWords } from "../parts/words.ts"
import { figureOf, heatOf, type Line } from "./ranking.ts"
import { TokenName } from "./TokenName.tsx"
import { type Span, spans } from "./windows.ts"

/** A figure that has not been read, or that nothing is known of. */
const Unread = () => (
  <span class="soft" title="Not read yet, or the token was not traded in the last day">
    –
  </span>
)

/** A change on a ground whose colour grows with it. */
const Heat = ({ of: change }: { readonly of: ScalarJson | null }) =>
  change === null ? (
    <Unread />
  ) : (
    <span class={`heat heat${heatOf(change.value)}`}>
      <Figure of={change} signed short />
    </span>
  )

const Plain = ({ of: figure, short = true }: { readonly of: ScalarJson | null; readonly short?: boolean }) =>
  figure === null ? <Unread /> : <Figure of={figure} short={short} />

/** The time since the creation of a token. */
const Age = ({ of: age }: { readonly of: ScalarJson | null }) =>
  age === null || age.value === null ? (
    <span class="soft" title="The creation of the token is not in the record">
      –
    </span>
  ) : (
    <span title={`${age.value} ms`}>{ageWords(Number(age.value))}</span>
  )

/** Keys and names of all columns but the first, in order. */
export const columnNames: ReadonlyArray<readonly [key: string, name: string]> = [
  ["price", "Price"],
  ...spans,
  ["volume", "Volume"],
  ["trades", "Trades"],
  ["buys", "Buys"],
  ["traders", "Traders"],
  ["liquidity", "Liquidity"],
  ["cap", "Market cap"],
  ["holders", "Holders"],
  ["top10", "Top 10"],
  ["age", "Age"]
]

/** Columns that a reader has to ask for: their figures are not known of every token. */
const further: ReadonlySet<string> = new Set(["buys", "holders", "top10", "age"])

/** Keys of the columns that are shown until the reader chooses others. */
export const usualColumns: ReadonlySet<string> = new Set(
  columnNames.flatMap(([key]) => (further.has(key) ? [] : [key]))
)

const isSpan = (key: string): key is Span => spans.some(([span]) => span === key)

/** The columns with these keys, after the name of the token. */
export const columnsOf = (keys: ReadonlySet<string>, list?: string): ReadonlyArray<Column<Line>> => [
  {
    name: "Token",
    cell: ({ token }) => <TokenName token={token} {...(list === undefined ? {} : { list })} />
  },
  ...columnNames.flatMap(([key, name]): ReadonlyArray<Column<Line>> =>
    keys.has(key)
      ? [
          {
            name,
            isNumber: true,
            sort: key,
            cell: (line) =>
              isSpan(key) ? (
                <Heat of={line.changes[key]} />
              ) : key === "age" ? (
                <Age of={figureOf(line, key)} />
              ) : (
                <Plain of={figureOf(line, key)} short={key !== "price"} />
              )
          }
        ]
      : []
  )
]

/** Boxes that choose the columns. */
export const ChooseColumns = ({
  keys,
  onChange
}: {
  readonly keys: ReadonlySet<string>
  readonly onChange: (keys: ReadonlySet<string>) => void
}) => (
  <details class="popup">
    <summary>Columns</summary>
    <div class="card popped">
      {columnNames.map(([key, name]) => (
        <label class="check" key={key}>
          <input
            type="checkbox"
            checked={keys.has(key)}
            onChange={() =>
              onChange(new Set(columnNames.flatMap(([each]) => (keys.has(each) !== (each === key) ? [each] : []))))
            }
          />
          {name}
        </label>
      ))}
    </div>
  </details>
)
