import { Effect } from "effect"

/** Faults of a simulated service that can be switched on and off. */
export interface Ailing<Ailment> {
  readonly current: () => Ailment
  /** Changes the given faults and leaves the others. */
  readonly set: (change: Partial<Ailment>) => Effect.Effect<void>
  /** Removes all faults. */
  readonly clear: Effect.Effect<void>
}

/** Makes faults that start as `initial`. */
export const makeAiling = <Ailment extends object>(initial: Ailment, healthy: Ailment): Ailing<Ailment> => {
  let current = initial
  const set = (change: Partial<Ailment>) =>
    Effect.sync(() => {
      current = { ...current, ...change }
    })
  return { current: () => current, set, clear: set(healthy) }
}
