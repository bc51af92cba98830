/** The tools that a client sees without asking for others: a dozen for the usual questions, in the order of the list. */

/** Says when to use each tool and what it answers, by name. The first one finds the address that most others need. */
export const guides: ReadonlyMap<string, string> = new Map([
  [
    "search_tokens",
    "Start here when the user names a token. Finds tokens by symbol, name or address and answers their mint addresses with price, " +
      "liquidity and volume. Names are unverified: many tokens share one, so compare liquidity, and heed marked copies."
  ],
  [
    "tokens_facts",
    "One token by its mint: name, price, market cap, liquidity, supply, holders and authorities. Use it for 'what is this token' and 'what does it cost'."
  ],
  [
    "tokens_risk",
    "Warning signals about one token: authorities, concentration, launch, copies. Use it before calling a token safe. Signals, not a score and not advice."
  ],
  [
    "tokens_holders",
    "Number of holders of one token, the largest ones and their share. Use it for 'who holds this' and 'is it concentrated'."
  ],
  [
    "market_stats",
    "Trades, volume, traders and price change of one token in four windows (5m, 1h, 6h, 24h). Use it for 'how active is it'."
  ],
  [
    "market_chart",
    "Candles of one token. Use it for prices over time; for the price now use tokens_facts. Ask for few bars (limit) in a coarse resolution first."
  ],
  [
    "trades_ofToken",
    "Single trades of one token, newest first, with wallet, side and value. Use it for 'who bought' and large trades; for sums use market_stats."
  ],
  [
    "market_movement",
    "Tokens ranked by what they did in a window: volume, gains, losses. Use it for 'what is moving' without a named token."
  ],
  [
    "spot_quote",
    "What a trade would pay now, exactly, over real pools. Amounts are atomic units as text: 1 SOL is 1000000000 of " +
      "So11111111111111111111111111111111111111112; with inputDecimals, uiAmount takes whole tokens. Prices only: it never trades."
  ],
  [
    "spot_exitCheck",
    "What selling shares of a position would pay, with price impact. Use it for 'could I get out'. The body names a mint and amount, or a wallet."
  ],
  [
    "wallets_performance",
    "How well a wallet trades: win rate, hold times, best and worst, streaks, drawdown. Use it for 'is this wallet good'."
  ],
  [
    "wallets_positions",
    "What a wallet holds and its profit by token. Use it for 'what does this wallet own'; for single trades ask for ?tools=wallets."
  ]
])
