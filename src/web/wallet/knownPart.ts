import { directionOf } from "../parts/numbers.ts"

/** The known part of a figure that is not wholly known. Null for zero, because then no part of it is known. */
export const knownPart = (known: string | null): string | null =>
  known === null || directionOf(known) === null ? null : known
