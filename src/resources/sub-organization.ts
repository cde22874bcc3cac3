import type { ResourceKind } from './kind.ts'
import type { Value } from './model.ts'
import { isPlainRecord, listOf } from './value.ts'

/** What the activity is given beside the name: read once, when the sub-organization is made. */
const FOUNDING = ['rootUsers', 'rootQuorumThreshold', 'wallet', 'disabledLogins'] as const

/**
 * A sub-organization, as its parent sees it: there or not. It is made with what `foundingFields` says; everything else in it
 * is its own, and neither compared nor changed from its parent (docs/protocol/organizations.md#the-tree). It is deleted
 * from inside.
 */
export const subOrganization: ResourceKind = {
  kind: 'subOrganization',
  one: 'sub-organization',
  many: 'sub-organizations',
  form: { key: 'subOrganizations', shape: 'folder', renamable: true },
  fields: {
    name: { compare: 'never', meaning: 'Its name, here and in the API.' },
    rootUsers: { compare: 'never', meaning: 'Its first users, with their credentials.', brief: namesOf },
    rootQuorumThreshold: { compare: 'never', meaning: 'How many of them must approve.' },
    wallet: { compare: 'never', meaning: 'Its first wallet, with its accounts.', brief: nameOf },
    disabledLogins: { compare: 'never', meaning: 'Login features that it is made without.' },
    withoutExport: {
      compare: 'never',
      meaning: 'With `delete`: delete it although not all of its keys were exported. What they hold is lost.',
    },
  },
  referable: false,
  deleteNeedsTombstone: true,
  irreplaceable: 'all that is in it goes with it, its keys included',
  rides: false,
  changedBy: ['CREATE_SUB_ORGANIZATION', 'DELETE_SUB_ORGANIZATION'],
  identity: ({ name }) => name,
  // Of customers nothing tells: one who leaves and one who comes are not the same.
  alike: {},
  create: {
    type: 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8',
    carries: 'one',
    parameters: ([change]) => {
      const { name, fields } = change!.desired!
      const { disabledLogins, ...given } = Object.fromEntries(
        FOUNDING.flatMap((field) => (fields[field] === undefined ? [] : [[field, fields[field]]])),
      )
      return {
        subOrganizationName: name,
        ...given,
        ...Object.fromEntries(listOf(disabledLogins).map((login) => [DISABLED_BY[String(login)]!, true])),
      }
    },
    produces: ([change]) => [
      { address: change!.desired!.address, at: ['createSubOrganizationResultV8', 'subOrganizationId'] },
    ],
  },
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION',
    carries: 'one',
    parameters: ([change]) => (change!.desired?.fields['withoutExport'] === true ? { deleteWithoutExport: true } : {}),
  },
  power: () => 'neutral',
}

/** Login features that are on in a new sub-organization, and the switch by which it is made without one. */
export const DISABLED_BY: Readonly<Record<string, string>> = {
  EMAIL_AUTH: 'disableEmailAuth',
  EMAIL_RECOVERY: 'disableEmailRecovery',
  OTP_EMAIL_AUTH: 'disableOtpEmailAuth',
  SMS_AUTH: 'disableSmsAuth',
}

function namesOf(users: Value): Value {
  return listOf(users).map((user) => (isPlainRecord(user) ? user['userName']! : user))
}

function nameOf(wallet: Value): Value {
  return isPlainRecord(wallet) ? wallet['walletName']! : wallet
}
