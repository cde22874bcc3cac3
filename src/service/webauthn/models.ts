import { encodeHex } from '../../encoding/index.ts'

/**
 * The API's name for an authenticator that the table below does not know
 * (docs/protocol/organizations.md#passkey-registration).
 */
const UNKNOWN_MODEL = 'Security key'

/**
 * Unstated: how `model` is derived. By AAGUID, which an unverified attestation only claims: a name to show, no fact to
 * decide by. The names are those that the makers publish; iCloud Keychain is called `Security key` by the live service.
 */
const MODELS: Readonly<Record<string, string>> = {
  ea9b8d664d011d213ce4b6b48cb575d4: 'Google Password Manager',
  adce000235bcc60a648b0b25f1f05503: 'Chrome on Mac',
  '08987058cadc4b81b6e130de50dcbe96': 'Windows Hello',
  '9ddd1817af5a4672a2b93e3dd95000a9': 'Windows Hello',
  '6028b017b1d44c02b4b3afcdafc96bb2': 'Windows Hello',
  bada5566a7aa401fbd9645619a55120d: '1Password',
  d548826e79b4db40a3d811116f7e8349: 'Bitwarden',
  '531126d6e717415c93203d9aa6981239': 'Dashlane',
}

/** Names the model of an authenticator by its AAGUID. */
export function modelOf(aaguid: Uint8Array): string {
  return MODELS[encodeHex(aaguid)] ?? UNKNOWN_MODEL
}
