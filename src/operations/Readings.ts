/** Numbers of this process that are read whenever metrics are collected. For counting events, use Effect's `Metric`. */
import { Context, Effect, Layer, type Scope } from "effect"

/** One number, with the labels that distinguish it within its family. */
export interface Sample {
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

/** All numbers with one name. */
export interface Family {
  /** Name in Prometheus' spelling, with its unit. A counter ends in `_total`. */
  readonly name: string
  readonly help: string
  /** A counter never falls while the process lives. */
  readonly kind: "counter" | "gauge"
}

/** A family with its present numbers. An unknown number has no sample. */
export interface Reading extends Family {
  readonly samples: ReadonlyArray<Sample>
}

/** The numbers that the parts of this process report. */
export interface Readings {
  /**
   * Adds a family until the scope closes. `read` is synchronous and must not fail; null stands for an unknown number. A
   * later family with the same name replaces it.
   */
  report(
    family: Family,
    read: (nowMs: number) => ReadonlyArray<Sample> | number | null
  ): Effect.Effect<void, never, Scope.Scope>
  /** Every family, by name. `nowMs` is the time since the Unix epoch. */
  readonly collect: (nowMs: number) => ReadonlyArray<Reading>
}

type Reader = (nowMs: number) => Reading

const samplesOf = (value: ReadonlyArray<Sample> | number | null): ReadonlyArray<Sample> => {
  if (value === null) {
    return []
  }
  return typeof value === "number" ? [{ value }] : value
}

const make = (): Readings => {
  const readers = new Map<string, Reader>()
  return {
    report: (family, read) => {
      const reader: Reader = (nowMs) => ({ ...family, samples: samplesOf(read(nowMs)) })
      return Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => readers.set(family.name, reader)),
          () => Effect.sync(() => readers.get(family.name) === reader && readers.delete(family.name))
        )
      )
    },
    collect: (nowMs) =>
      Array.from(readers.values(), (read) => read(nowMs)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }
}

/** Without a layer, nothing is kept. */
export const Readings = Context.Reference<Readings>("fathom/operations/Readings", {
  defaultValue: () => ({ report: () => Effect.void, collect: () => [] })
})

/** A separate list of readings. */
export const layer: Layer.Layer<never> = Layer.sync(Readings, make)
