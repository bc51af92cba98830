/** Tables that scroll sideways within themselves where the page is narrow. */
import type { ComponentChildren } from "preact"

/** One column of a table. */
export interface Column<Row> {
  readonly name: string
  /** Numbers are set to the right. */
  readonly isNumber?: boolean
  /** The name is for screen readers only. */
  readonly isUnnamed?: boolean
  readonly cell: (row: Row) => ComponentChildren
}

/** A table with a caption. The first column names the row. */
export const Table = <Row,>({
  caption,
  columns,
  keyOf,
  rows
}: {
  readonly caption: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
}) => (
  <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ isNumber, isUnnamed, name }) => (
            <th key={name} scope="col" class={isNumber === true ? "number" : undefined}>
              {isUnnamed === true ? <span class="hidden">{name}</span> : name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ cell, isNumber, name }, at) =>
              at === 0 ? (
                <th key={name} scope="row" class="name">
                  {cell(row)}
                </th>
              ) : (
                <td key={name} class={isNumber === true ? "number" : undefined}>
                  {cell(row)}
                </td>
              )
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
