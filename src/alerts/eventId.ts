/** The id of the firing of an alert that is its `count`th: who fires it twice writes the same row. */
export const eventIdOf = (alertId: string, count: number): string => `evt_${alertId.slice("al_".length)}_${count}`
