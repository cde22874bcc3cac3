/* global document, SERVICE */
/** The page's part: all of it is the published browser client. `SERVICE` is written in by build.ts. */
import { TurnkeyClient } from '@turnkey/core'

const client = new TurnkeyClient({
  apiBaseUrl: SERVICE.baseUrl,
  organizationId: SERVICE.organizationId,
  authProxyUrl: SERVICE.authProxyUrl,
  authProxyConfigId: SERVICE.authProxyConfigId,
  passkeyConfig: {},
})

/** A sign-up makes an organization for the one person, and a wallet in it. */
const newHome = {
  customWallet: {
    walletName: 'mine',
    walletAccounts: [
      {
        curve: 'CURVE_SECP256K1',
        pathFormat: 'PATH_FORMAT_BIP32',
        path: "m/44'/60'/0'/0/0",
        addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
      },
    ],
  },
}

const find = (id) => document.getElementById(id)
let account
let codeSent

/** Shows what a person can do now: whether there is a session decides. */
async function show() {
  const session = await client.getSession()
  if (session !== undefined) {
    const [wallet] = await client.fetchWallets()
    account = wallet.accounts[0]
    find('address').textContent = account.address
    find('expiry').textContent = new Date(session.expiry * 1000).toLocaleTimeString()
    find('signature').textContent = ''
  }
  find('enter').hidden = true
  find('outside').hidden = session !== undefined
  find('inside').hidden = session === undefined
}

async function signUpWithPasskey() {
  await client.signUpWithPasskey({ passkeyDisplayName: 'my passkey', createSubOrgParams: newHome })
  await show()
}

async function logInWithPasskey() {
  await client.loginWithPasskey()
  await show()
}

async function sendCode({ contact }) {
  codeSent = { contact, ...(await client.initOtp({ otpType: 'OTP_TYPE_EMAIL', contact })) }
  find('enter').hidden = false
}

/** Signs up who is new, and logs in who is not. */
async function enterCode({ code }) {
  await client.completeOtp({
    ...codeSent,
    otpType: 'OTP_TYPE_EMAIL',
    otpCode: code.trim(),
    createSubOrgParams: newHome,
  })
  await show()
}

async function sign({ message }) {
  const { r, s, v } = await client.signMessage({ message, walletAccount: account, addEthereumPrefix: true })
  find('signature').textContent = `0x${r}${s}${(Number(v) + 27).toString(16)}`
}

/** The session's own key logs its user in again, with a new key and a new end. */
async function refresh() {
  await client.refreshSession()
  await show()
}

/** The client's own logout forgets the key. The service is told first, so that a copy of the key is worth nothing. */
async function logOut() {
  const { publicKey } = await client.getSession()
  const { userId, apiKeys } = await client.fetchUser()
  const key = apiKeys.find(({ credential }) => credential.publicKey === publicKey)
  await client.httpClient.deleteApiKeys({ userId, apiKeyIds: [key.apiKeyId] })
  await client.logout()
  await show()
}

/** Does one thing at a time, and says what went wrong. */
async function attempt(work) {
  const alert = document.querySelector('[role=alert]')
  alert.textContent = ''
  document.body.inert = true
  try {
    await work()
  } catch (error) {
    // The client's own words are about what was tried; what the service answered is the cause.
    alert.textContent = [error.message, error.cause?.message].filter(Boolean).join(': ')
  } finally {
    document.body.inert = false
  }
}

const onClick = (id, work) => find(id).addEventListener('click', () => attempt(work))
const onSubmit = (id, work) =>
  find(id).addEventListener('submit', (event) => {
    event.preventDefault()
    void attempt(() => work(Object.fromEntries(new FormData(event.target))))
  })

onClick('passkey-sign-up', signUpWithPasskey)
onClick('passkey-login', logInWithPasskey)
onSubmit('ask', sendCode)
onSubmit('enter', enterCode)
onSubmit('sign', sign)
onClick('refresh', refresh)
onClick('log-out', logOut)
await attempt(async () => {
  await client.init()
  await show()
})
