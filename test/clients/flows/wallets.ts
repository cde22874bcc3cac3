/**
 * Wallets as browser extensions show them to a page: one of Ethereum (EIP-1193, found by EIP-6963 or as `window.ethereum`) and
 * one of Solana (Wallet Standard). Their users say yes to everything; their keys stay outside of the page.
 */
import { ed25519 } from '@noble/curves/ed25519.js'
import { base58 } from '@scure/base'
import type { Page } from 'playwright-core'
import { isHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

/** Shows a page two wallets with new keys, from its next load on. */
export async function addWallets(page: Page): Promise<void> {
  const account = privateKeyToAccount(generatePrivateKey())
  const seed = ed25519.utils.randomSecretKey()
  const address = base58.encode(ed25519.getPublicKey(seed))
  await page.exposeFunction('signByEthereum', (message: string) =>
    account.signMessage({ message: isHex(message) ? { raw: message } : message }),
  )
  await page.exposeFunction('signBySolana', (bytes: number[]) => [...ed25519.sign(Uint8Array.from(bytes), seed)])
  await page.addInitScript(`(${showWallets})(${JSON.stringify({ ethereum: account.address, solana: address })})`)
}

const showWallets = `(addresses) => {
  const answers = {
    eth_requestAccounts: () => [addresses.ethereum],
    eth_accounts: () => [addresses.ethereum],
    eth_chainId: () => '0x1',
    personal_sign: ([message]) => globalThis.signByEthereum(message),
  }
  const request = async ({ method, params }) => {
    if (!answers[method]) throw Object.assign(new Error('unsupported: ' + method), { code: 4200 })
    return answers[method](params)
  }
  const provider = { request }
  const icon = 'data:image/svg+xml,<svg/>'
  globalThis.ethereum = provider
  const info = { uuid: '5f0d1c0e-6a57-4c2b-9d2e-0d6a4b1f7c11', name: 'A wallet', icon, rdns: 'test.wallet' }
  const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }))
  addEventListener('eip6963:requestProvider', announce)

  const chains = ['solana:mainnet']
  const account = { address: addresses.solana, publicKey: new Uint8Array(32), chains, features: ['solana:signMessage'] }
  const accounts = [account]
  const sign = async ({ message }) => ({
    signedMessage: message,
    signature: Uint8Array.from(await globalThis.signBySolana([...message])),
  })
  const features = {
    'standard:connect': { version: '1.0.0', connect: async () => ({ accounts }) },
    'solana:signMessage': { version: '1.0.0', signMessage: (...inputs) => Promise.all(inputs.map(sign)) },
  }
  const wallet = { version: '1.0.0', name: 'Another wallet', icon, chains, features, accounts }
  globalThis.solana = wallet
  const register = (api) => api.register(wallet)
  addEventListener('wallet-standard:app-ready', ({ detail }) => register(detail))
  dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }))
}`
