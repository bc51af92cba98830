import {
  balance,
  balances,
  base,
  baseListed,
  baseUsdc,
  catalog,
  custody,
  evmWallet,
  OWNER,
  solana,
  solListed,
  solWallet,
  wallets
} from "./scriptedFunding.ts"
import { named, perField, refuses, type Variant } from "./variants.ts"

const walletVariants: ReadonlyArray<Variant> = [
  ...perField(solWallet),
  ["an unknown family", "malformed", { family: "bitcoin" }],
  ["an EVM address of the Solana family", "malformed", { address: evmWallet.address }],
  ["a Solana address of the EVM family", "malformed", { family: "evm" }],
  ["an address of 31 bytes", "malformed", { address: "1".repeat(31) }],
  ["an address with a space", "malformed", { address: `${solWallet.address} ` }],
  ["an EVM address of 39 digits", "malformed", { family: "evm", address: `0x${"a".repeat(39)}` }],
  ["an EVM address without 0x", "malformed", { family: "evm", address: "a".repeat(40) }],
  ["a wallet id twice", "malformed", { walletId: "w_evm" }],
  ["an empty wallet id", "malformed", { walletId: "" }],
  ["a wallet id of 129 characters", "malformed", { walletId: "w".repeat(129) }],
  ["a wallet id beyond ASCII", "malformed", { walletId: "w_\u0455ol" }],
  ["a label that cannot be seen", "malformed", { label: "\u200b" }],
  ["a wallet made before time", "malformed", { createdAtMs: -1 }],
  ["a wallet made half-way", "malformed", { createdAtMs: 0.5 }],
  ["verification as text", "malformed", { verified: "true" }]
]

refuses(
  "wallets",
  (client) => client.wallets(OWNER),
  (change) => ({ wallets: { ...wallets, wallets: [{ ...solWallet, ...change }, evmWallet] } }),
  walletVariants
)

refuses(
  "the registry",
  (client) => client.wallets(OWNER),
  (change) => ({ wallets: { ...wallets, ...change } }),
  [
    ["the registry of another owner", "foreign", { owner: "acct_2" }],
    ["a registry without an owner", "malformed", { owner: undefined }],
    ["wallets that are no list", "malformed", { wallets: {} }],
    ["wallets that are null", "malformed", { wallets: null }],
    ["a time beyond exact integers", "malformed", { asOf: Number.MAX_SAFE_INTEGER + 1 }],
    ["a time as text", "malformed", { asOf: "1" }],
    ["a field too many", "malformed", { next: null }]
  ]
)

const assetVariants: ReadonlyArray<Variant> = [
  ...perField(solListed),
  ["an asset of another network", "malformed", { network: "solana-custody" }],
  ["an asset address of another family", "malformed", { address: baseUsdc.address }],
  ["no decimals at all", "malformed", { decimals: null }],
  ["negative decimals", "malformed", { decimals: -1 }],
  ["37 decimals", "malformed", { decimals: 37 }],
  ["half a decimal", "malformed", { decimals: 1.5 }],
  ["decimals as text", "malformed", { decimals: "6" }],
  ["an id of 257 characters", "malformed", { id: "a".repeat(257) }],
  ["an empty symbol", "malformed", { symbol: "" }]
]

refuses(
  "the assets of the catalog",
  (client) => client.catalog({ owner: OWNER }),
  (change) => ({ catalog: { ...catalog, networks: [{ network: solana, assets: [{ ...solListed, ...change }] }] } }),
  assetVariants
)

refuses(
  "the networks of the catalog",
  (client) => client.catalog({ owner: OWNER }),
  (change) => ({
    catalog: {
      ...catalog,
      networks: [
        { network: solana, assets: [solListed] },
        { network: base, assets: [baseListed], ...change }
      ]
    }
  }),
  [
    ["a network id twice", "malformed", { network: solana, assets: [solListed] }],
    ["an asset id twice", "malformed", { assets: [baseListed, baseListed] }],
    ["a network of an unknown family", "malformed", { network: { ...base, family: "cosmos" } }],
    ["a network without a memo rule", "malformed", { network: { ...base, memoRequired: null } }],
    ["a network id of 129 characters", "malformed", { network: { ...base, id: "n".repeat(129) }, assets: [] }],
    ["a network with a field too many", "malformed", { network: { ...base, chainId: 8453 } }],
    ["a field too many", "malformed", { enabled: true }]
  ]
)

const unknown = { balance: null, valueUsd: null, reason: "rpc_timeout" }

const balanceVariants: ReadonlyArray<Variant> = [
  ...perField(balance),
  ...named("balance"),
  ["dollars as a number", "malformed", { priceUsd: 1 }],
  ["dollars with an exponent", "malformed", { priceUsd: "1e0" }],
  ["dollars with trailing zeros", "malformed", { priceUsd: "1.0" }],
  ["dollars with 31 digits after the point", "malformed", { priceUsd: `0.${"1".repeat(31)}` }],
  ["a value below zero", "malformed", { valueUsd: "-1" }],
  ["a wallet of another owner", "foreign", { walletId: "w_other" }],
  ["a wallet that was not asked for", "foreign", { walletId: "w_evm", network: base, asset: baseListed }],
  ["a network of another family", "malformed", { network: base, asset: baseListed }],
  ["an asset of another network", "malformed", { asset: baseListed }],
  ["a chain that was not read", "malformed", { network: custody, asset: { ...solListed, network: custody.id } }],
  ["an unknown balance without a reason", "malformed", { ...unknown, reason: null }],
  ["a reason for nothing", "malformed", { reason: "rpc_timeout" }],
  ["an empty reason", "malformed", { ...unknown, reason: "" }],
  ["the value of an unknown balance", "malformed", { ...unknown, valueUsd: "2.5" }],
  ["a value without a price", "malformed", { priceUsd: null, priceAsOf: null, reason: "price_unknown" }],
  ["a balance without its time", "malformed", { asOf: null }],
  ["a price without its time", "malformed", { priceAsOf: null }]
]

refuses(
  "balances",
  (client) => client.balances({ owner: OWNER, walletId: "w_sol" }),
  (change) => ({
    balances: {
      ...balances,
      balances: [{ ...balance, ...change }],
      unread: [{ chain: custody.id, reason: "rpc_down" }]
    }
  }),
  balanceVariants
)

refuses(
  "all balances",
  (client) => client.balances({ owner: OWNER }),
  (change) => ({ balances: { ...balances, ...change } }),
  [
    ["those of another owner", "foreign", { owner: "acct_2" }],
    ["a balance twice", "malformed", { balances: [balance, balance] }],
    ["an unread chain without a reason", "malformed", { unread: [{ chain: "base-mainnet" }] }],
    ["an unread chain with more fields", "malformed", { unread: [{ chain: "base-mainnet", reason: "x", url: "y" }] }],
    [
      "an unread chain twice",
      "malformed",
      {
        unread: [
          { chain: "b", reason: "x" },
          { chain: "b", reason: "y" }
        ]
      }
    ],
    ["no list of unread chains", "malformed", { unread: undefined }]
  ]
)
