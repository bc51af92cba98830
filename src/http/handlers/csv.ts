/** Lists as comma-separated values (RFC 4180). */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { InvalidRequest } from "../../api/errors/problems.ts"
import { invalid } from "../problems.ts"

/** First characters that make a spreadsheet read a cell as a formula, including tab and carriage return. */
const FORMULA = /^[=+\-@\t\r]/u
const QUOTED = /[",\r\n]/u

/** Decimal text of a number that the service made itself. It keeps its sign in CSV. */
export interface Digits {
  readonly digits: string
}

/** What a cell may hold. */
export type Cell = string | number | Digits | null

/** Decimal text as a number in CSV; null stays null. */
export const digitsOf = (text: string | null): Digits | null => (text === null ? null : { digits: text })

/** One cell; empty for null. An apostrophe is put before text that a spreadsheet could read as a formula. */
export const csvCell = (value: Cell): string => {
  if (typeof value === "object" && value !== null) {
    return value.digits
  }
  if (value === null || typeof value === "number") {
    return String(value ?? "")
  }
  const text = FORMULA.test(value) ? `'${value}` : value
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The rows with a header line. Lines end with CRLF. */
export const csvText = <Column extends string>(
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<{ readonly [_ in Column]: Cell }>
): string =>
  [columns.join(","), ...rows.map((row) => columns.map((column) => csvCell(row[column])).join(","))]
    .map((line) => `${line}\r\n`)
    .join("")

/** True when `Accept` gives CSV a greater weight than JSON. */
export const prefersCsv = (accept: string | undefined): boolean => {
  const weightOf = (types: ReadonlyArray<string>): number => {
    for (const type of types) {
      for (const part of (accept ?? "").toLowerCase().split(",")) {
        const [name = "", ...parameters] = part.split(";").map((text) => text.trim())
        if (name === type) {
          const weight = Number(parameters.find((text) => text.startsWith("q="))?.slice(2) ?? 1)
          return Number.isFinite(weight) ? weight : 0
        }
      }
    }
    return 0
  }
  return weightOf(["text/csv", "text/*"]) > weightOf(["application/json", "application/*", "*/*"])
}

/** Rejects the parameters of a page, because a CSV answer has no pages. */
export const unpaged = ({
  cursor,
  limit
}: {
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}): Effect.Effect<void, InvalidRequest> => {
  const field = cursor === undefined ? "limit" : "cursor"
  return cursor === undefined && limit === undefined
    ? Effect.void
    : Effect.fail(
        invalid({ in: "query", field, issue: "conflict" }, `${field} must be left out: a CSV answer has no pages.`)
      )
}

/** A file of comma-separated values. `name` is its name without the ending. */
export const csvResponse = (text: string, name: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, {
    contentType: "text/csv; charset=utf-8",
    headers: { "content-disposition": `attachment; filename="${name}.csv"`, vary: "accept" }
  })
