import { Schema } from "effect"
import { field } from "./field.ts"

/** Exact decimal text: no exponent, no plus sign, no trailing zeros after the point, never `-0`, 30 fraction digits at most. */
export const Decimal = Schema.String.check(
  Schema.isPattern(/^(?:0|-?(?:0|[1-9][0-9]*)\.[0-9]{0,29}[1-9]|-?[1-9][0-9]*)$/u, {
    expected: "a plain decimal number without trailing zeros, with at most 30 fraction digits"
  })
).annotate({ identifier: "Decimal", description: "An exact decimal number as text." })
export type Decimal = typeof Decimal.Type

/** How well a value is known. */
export const Status = Schema.Literals(["known", "partial", "stale", "unavailable"]).annotate({
  description:
    "`known`: complete. `partial`: a part is missing; the coverage says which. `stale`: older than it may be. `unavailable`: no value."
})
export type Status = typeof Status.Type

/** Why something is not fully known. */
export const CoverageReason = Schema.Literals([
  "not_captured",
  "backfill_running",
  "source_gap",
  "resolution_retention",
  "range_clipped",
  "limit_clipped",
  "supply_unknown",
  "basis_unknown",
  "mark_unknown",
  "observed_swaps_only",
  "source_stale",
  "deadline",
  "budget"
])
export type CoverageReason = typeof CoverageReason.Type

/** Completeness of an answer, with reasons. */
export class Coverage extends Schema.Opaque<Coverage>()(
  Schema.Struct({
    complete: field(Schema.Boolean, "True when nothing is missing."),
    reason: field(Schema.NullOr(CoverageReason), "Why something is missing; null when nothing is."),
    share: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))).annotate({
      description:
        "The part of the requested time that was seen, from 0 to 1, where values cover only that part. Absent where all was " +
        "seen, or too little for a value."
    })
  })
    .check(
      Schema.makeFilter(({ complete, reason }) => complete === (reason === null) || "a reason, unless it is complete", {
        toJsonSchema: () => ({})
      })
    )
    .annotate({ identifier: "Coverage", description: "Whether everything that belongs here is here, and if not, why." })
) {}

/** Everything is there. */
export const COMPLETE: Coverage = { complete: true, reason: null }

/** Something is missing. */
export const incomplete = (reason: CoverageReason): Coverage => ({ complete: false, reason })

/** Only part of the time span is covered. `share` is how much of it, rounded down to four digits. */
export const covering = (reason: CoverageReason, share: number): Coverage => ({
  complete: false,
  reason,
  share: Math.floor(Math.min(1, Math.max(0, share)) * 10_000) / 10_000
})

/** Unit of a scalar. */
export const ScalarUnit = Schema.Literals(["usd", "sol", "count", "percent", "ms"])
export type ScalarUnit = typeof ScalarUnit.Type

const time = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })

const fields = Schema.Struct({
  value: field(Schema.NullOr(Decimal), "The value; null when it is not known."),
  unit: field(ScalarUnit, "Unit of the value."),
  status: Status,
  observedAtMs: time("When the value was computed."),
  expiresAtMs: time("When the value stops counting; null when it never does."),
  coverage: Coverage
})

const fault = ({ coverage, status, value }: typeof fields.Type): true | string => {
  if ((value === null) !== (status === "stale" || status === "unavailable")) {
    return "a value, unless it is stale or unavailable"
  }
  return coverage.complete === (status === "known") || "complete exactly when it is known"
}

/** One number with everything that a reader needs to judge it. */
export class Scalar extends Schema.Opaque<Scalar>()(
  fields
    .check(Schema.makeFilter(fault, { toJsonSchema: () => ({}) }))
    .annotate({ identifier: "Scalar", description: "One number with how well it is known, since when and until when." })
) {}

/** When a value was computed and when it expires. */
export interface Lifetime {
  readonly observedAtMs: number
  readonly expiresAtMs: number | null
}

/**
 * A fully known value. Null means that the value could not be written as decimal text; the scalar is then
 * unavailable.
 */
export const known = (unit: ScalarUnit, value: Decimal | null, { expiresAtMs, observedAtMs }: Lifetime): Scalar =>
  value === null
    ? unavailable(unit, "source_gap")
    : { value, unit, status: "known", observedAtMs, expiresAtMs, coverage: COMPLETE }

/** A value computed from the covered part of its time span. */
export const covered = (
  unit: ScalarUnit,
  value: Decimal,
  { expiresAtMs, observedAtMs }: Lifetime,
  coverage: Coverage
): Scalar => ({ value, unit, status: coverage.complete ? "known" : "partial", observedAtMs, expiresAtMs, coverage })

/** A value that lacks some of its inputs. */
export const partial = (
  unit: ScalarUnit,
  value: Decimal | null,
  { expiresAtMs, observedAtMs }: Lifetime,
  reason: CoverageReason
): Scalar =>
  value === null
    ? unavailable(unit, reason)
    : { value, unit, status: "partial", observedAtMs, expiresAtMs, coverage: incomplete(reason) }

/** A value that is not known. */
export const unavailable = (unit: ScalarUnit, reason: CoverageReason): Scalar => ({
  value: null,
  unit,
  status: "unavailable",
  observedAtMs: null,
  expiresAtMs: null,
  coverage: incomplete(reason)
})

/** A known value past its expiry. */
export const stale = (unit: ScalarUnit, { expiresAtMs, observedAtMs }: Lifetime): Scalar => ({
  value: null,
  unit,
  status: "stale",
  observedAtMs,
  expiresAtMs,
  coverage: incomplete("source_stale")
})

/** The scalar as it reads at `nowMs`: an expired scalar loses its value. */
export const asOf = (scalar: Scalar, nowMs: number): Scalar =>
  scalar.value === null || scalar.observedAtMs === null || scalar.expiresAtMs === null || nowMs <= scalar.expiresAtMs
    ? scalar
    : stale(scalar.unit, { observedAtMs: scalar.observedAtMs, expiresAtMs: scalar.expiresAtMs })
