/** Prompts for common tasks: each says which tools to use in which order, and what to say about what is not known. */
import { Context, Effect } from "effect"
import { McpSchema, McpServer } from "effect/ai"

interface Task {
  readonly name: string
  readonly title: string
  readonly description: string
  /** Arguments by name, with what each one means. All are required. */
  readonly arguments: Readonly<Record<string, string>>
  /** The task, with `{name}` where an argument goes. */
  readonly text: string
}

const HONESTY =
  "Say how well each number is known where it is partial or stale, and say that a number is unknown instead of guessing it."

const tasks: ReadonlyArray<Task> = [
  {
    name: "check-token",
    title: "Check a token",
    description: "What a token is, how it trades, and what speaks against it.",
    arguments: { token: "Symbol, name or mint address." },
    text:
      "Check the Solana token {token}. Find its mint with search_tokens unless it is an address; if several match, name them and take the one " +
      "with the most liquidity. Then read tokens_facts, tokens_risk, tokens_holders and market_stats. Report price, market cap, liquidity, " +
      "activity in 24 hours, every warning signal, and how concentrated the holders are."
  },
  {
    name: "can-i-exit",
    title: "Could this position be sold?",
    description: "What selling a position would pay, in steps, with price impact.",
    arguments: { token: "Symbol, name or mint address.", amount: "Amount in whole tokens." },
    text:
      "I hold {amount} of the Solana token {token}. Find its mint with search_tokens and its decimals with tokens_facts, then call spot_exitCheck with " +
      "mint, uiAmount and decimals. Report what each share would pay, the price impact, and the largest share that loses less than two percent."
  },
  {
    name: "judge-wallet",
    title: "Judge a wallet",
    description: "How a wallet trades and what it holds.",
    arguments: { wallet: "Address of the wallet." },
    text:
      "Judge the Solana wallet {wallet}. Read wallets_performance and wallets_positions. Report win rate, typical hold time, realized profit, the best and " +
      "the worst token, drawdown and the largest open positions, and say from when on its trades were observed."
  },
  {
    name: "what-moves",
    title: "What is moving?",
    description: "Tokens that moved in a window, with the reasons that can be seen.",
    arguments: { window: "5m, 1h, 6h or 24h." },
    text:
      "Which Solana tokens moved most in the last {window}? Read market_movement for that window, take the first five, and read market_stats and tokens_risk of " +
      "each. Report change, volume, traders and warning signals in a table."
  },
  {
    name: "price-a-trade",
    title: "Price a trade",
    description: "What a trade would pay now, and along which route.",
    arguments: {
      amount: "Amount in whole tokens.",
      from: "Symbol or mint of the token that is given.",
      to: "Symbol or mint of the token that is received."
    },
    text:
      "What would {amount} {from} pay in {to} on Solana now? Find both mints with search_tokens and their decimals with tokens_facts, then call spot_quote with " +
      "uiAmount, inputDecimals and outputDecimals. Report what is received, the least after slippage, the price impact, the route and its venues. Do not offer to " +
      "trade: these tools only read."
  }
]

/** The longest value of an argument that goes into a text. */
const LONGEST = 200

const textOf = ({ arguments: all, text }: Task, given: Readonly<Record<string, string>>) =>
  Effect.suspend(() => {
    const wrong = Object.keys(all).find((name) => {
      const value = given[name]?.trim() ?? ""
      return value === "" || value.length > LONGEST
    })
    return wrong === undefined
      ? Effect.succeed(`${text.replaceAll(/\{(\w+)\}/gu, (_, name: string) => given[name]?.trim() ?? "")} ${HONESTY}`)
      : Effect.fail(
          new McpSchema.InvalidParams({ message: `${wrong} is missing, or longer than ${LONGEST} characters.` })
        )
  })

/** Adds every prompt to the server. */
export const addPrompts = Effect.gen(function* () {
  const server = yield* McpServer.McpServer
  for (const task of tasks) {
    const { description, name, title } = task
    yield* server.addPrompt({
      prompt: new McpSchema.Prompt({
        name,
        title,
        description,
        arguments: Object.entries(task.arguments).map(([argument, meaning]) =>
          McpSchema.PromptArgument.make({ name: argument, description: meaning, required: true })
        )
      }),
      annotations: Context.empty(),
      completions: {},
      handle: (given) =>
        Effect.map(
          textOf(task, given),
          (text) =>
            new McpSchema.GetPromptResult({
              description,
              messages: [McpSchema.PromptMessage.make({ role: "user", content: McpSchema.TextContent.make({ text }) })]
            })
        )
    })
  }
})
