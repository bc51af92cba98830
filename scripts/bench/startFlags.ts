/** The flags of V8 that `npm start` sets as it begins (`scripts/start.mjs`), for services that a bench starts without it. */
export const START_FLAGS: ReadonlyArray<string> = ["--no-allocation-site-pretenuring"]
