/** Time of a quote: pricing alone, per program, and the engine from request to quote object. Two lines with `--json`. */
await import("./pricing.ts")
await import("./engine.ts")
