/**
 * An organization in memory that carries out the activities of a plan, with the rules of the API that an order can
 * break: what is referred to exists, a quorum's member cannot be deleted, names of policies are unique, a user keeps a
 * way in (docs/protocol/organizations.md#ways-in, docs/protocol/policies.md#root-only-activities).
 */
import type { Json } from '../../src/encoding/index.ts'
import {
  collectIds,
  extendLock,
  fillParameters,
  type Lock,
  outline,
  type Plan,
  readyBatches,
} from '../../src/plan/index.ts'
import {
  type Actual,
  type Address,
  formatAddress,
  type Resource,
  walletAccountName,
} from '../../src/resources/index.ts'
import { actualOf, bootstrap, idFor, live, ORGANIZATION } from './organization.ts'

/** Every member that an intent of these activities has; one activity has some of them. */
type Texts = {
  readonly [text in
    | 'userTagName'
    | 'newUserTagName'
    | 'userTagId'
    | 'userName'
    | 'userId'
    | 'apiKeyName'
    | 'publicKey'
    | 'curveType'
    | 'policyId'
    | 'policyName'
    | 'effect'
    | 'notes'
    | 'walletId'
    | 'walletName'
    | 'path'
    | 'curve'
    | 'addressFormat'
    | 'name'
    | 'value'
    | 'organizationName']: string
}
type Lists = {
  readonly [list in 'userTagIds' | 'userTags' | 'userIds' | 'apiKeyIds' | 'policyIds' | 'walletIds']: readonly string[]
}
type Entries = { readonly [list in 'users' | 'apiKeys' | 'policies' | 'accounts']: readonly Params[] }
type Maybe = {
  readonly [text in
    | 'userEmail'
    | 'userPhoneNumber'
    | 'consensus'
    | 'condition'
    | 'time'
    | 'policyEffect'
    | 'policyCondition'
    | 'policyConsensus'
    | 'policyNotes']?: string
}
type Params = Texts & Lists & Entries & Maybe & { readonly threshold: number }
type Result = Readonly<Record<string, Json>>

export class Model {
  #things: readonly Resource[]
  #made = 0

  constructor(things: readonly Resource[] = bootstrap()) {
    this.#things = things
  }

  actual(): Actual {
    return actualOf(this.#things)
  }

  /** Carries out a plan the way the walk does; batches that are ready at once go in the order of `pick`. */
  apply(plan: Plan, lock: Lock, pick: (ready: readonly number[]) => number = ([first]) => first!): Lock {
    const states = plan.batches.map(() => 'not-started' as 'not-started' | 'done')
    const ids: Record<Address, string> = { ...plan.ids }
    let locked = lock
    for (
      let ready = readyBatches(outline(plan), states);
      ready.length > 0;
      ready = readyBatches(outline(plan), states)
    ) {
      const batch = plan.batches[pick(ready)]!
      const result = this.submit(batch.type, fillParameters(batch.parameters, ids) as unknown as Params)
      const made = collectIds(batch, result)
      Object.assign(ids, made)
      locked = extendLock(locked, ORGANIZATION, made)
      states[batch.index] = 'done'
    }
    if (states.includes('not-started')) throw new Error('the walk stopped before the end')
    return locked
  }

  submit(type: string, parameters: Params): Result {
    const act = this.#activities[type.replace('ACTIVITY_TYPE_', '')]
    if (!act) throw new Error(`the model does not know ${type}`)
    return act(parameters)
  }

  readonly #activities: Readonly<Record<string, (p: Params) => Result>> = {
    CREATE_USER_TAG: ({ userTagName }) => {
      this.#unique('tag', userTagName)
      return { createUserTagResult: { userTagId: this.#add(live(formatAddress('tag', userTagName), {}, this.#id())) } }
    },
    UPDATE_USER_TAG: ({ userTagId, newUserTagName }) => {
      this.#unique('tag', newUserTagName, userTagId)
      this.#set('tag', userTagId, { name: newUserTagName })
      return {}
    },
    DELETE_USER_TAGS: ({ userTagIds }) => {
      for (const id of userTagIds) {
        const holder = this.#things.find(({ id: own, fields }) => own !== id && JSON.stringify(fields).includes(id))
        if (holder) throw new Error(`${holder.address} still names the tag ${this.#find('tag', id).address}`)
        this.#remove('tag', id)
      }
      return {}
    },
    CREATE_USERS_V4: ({ users }) => {
      const userIds = users.map(({ userName, userEmail, apiKeys, userTags }) => {
        if (apiKeys.length === 0 && !userEmail) throw new Error(`${userName} has no way in`)
        for (const tag of userTags) this.#find('tag', tag)
        const email = userEmail === undefined ? {} : { email: userEmail }
        const id = this.#add(live(formatAddress('user', userName), { ...email, tags: userTags }, this.#id()))
        this.#addKeys(id, apiKeys)
        return id
      })
      return { createUsersResult: { userIds } }
    },
    UPDATE_USER: ({ userId, userName, userEmail, userTagIds }) => {
      for (const tag of userTagIds ?? []) this.#find('tag', tag)
      this.#set('user', userId, { name: userName, email: userEmail, tags: userTagIds })
      return {}
    },
    DELETE_USERS: ({ userIds }) => {
      const [quorum] = this.#of('rootQuorum')
      for (const id of userIds) {
        if ((quorum!.fields['users'] as readonly string[]).includes(id))
          throw new Error(`${this.#find('user', id).name} is in the quorum`)
        this.#remove('user', id)
      }
      return {}
    },
    UPDATE_USER_NAME: ({ userId, userName }) => {
      this.#set('user', userId, { name: userName })
      return {}
    },
    UPDATE_USER_EMAIL: ({ userId, userEmail }) => {
      this.#set('user', userId, { email: userEmail === '' ? null : userEmail })
      return {}
    },
    UPDATE_USER_PHONE_NUMBER: ({ userId, userPhoneNumber }) => {
      this.#set('user', userId, { phone: userPhoneNumber === '' ? null : userPhoneNumber })
      return {}
    },
    CREATE_API_KEYS_V2: ({ userId, apiKeys }) => ({
      createApiKeysResult: { apiKeyIds: this.#addKeys(this.#find('user', userId).id!, apiKeys) },
    }),
    DELETE_API_KEYS: ({ userId, apiKeyIds }) => {
      for (const id of apiKeyIds) this.#remove('apiKey', id)
      const left = this.#of('apiKey').some(({ parentId }) => parentId === userId)
      if (!left && !this.#find('user', userId).fields['email']) throw new Error('the user has no way in')
      return {}
    },
    UPDATE_ROOT_QUORUM: ({ threshold, userIds }) => {
      const users = userIds.map((id) => this.#find('user', id))
      const able = users.filter(({ id }) => this.#of('apiKey').some(({ parentId }) => parentId === id))
      if (able.length < Number(threshold)) throw new Error('the quorum could not be met')
      this.#set('rootQuorum', 'rootQuorum', { threshold, users: userIds })
      return {}
    },
    CREATE_POLICIES: ({ policies }) => {
      const policyIds = policies.map(({ policyName, effect, consensus, condition, time, notes }) => {
        this.#unique('policy', policyName)
        const fields = {
          effect: effect === 'EFFECT_DENY' ? 'deny' : 'allow',
          consensus: consensus ?? null,
          condition: condition ?? null,
          time: time ?? null,
          notes,
        }
        return this.#add(live(formatAddress('policy', policyName), fields, this.#id()))
      })
      return { createPoliciesResult: { policyIds } }
    },
    UPDATE_POLICY_V2: (p) => {
      const { policyId, policyName, policyEffect, policyCondition, policyConsensus, policyNotes } = p
      if (policyName !== undefined) this.#unique('policy', policyName, policyId)
      const expression = (text: string | undefined) => (text === 'true' ? null : text)
      const effect = policyEffect && (policyEffect === 'EFFECT_DENY' ? 'deny' : 'allow')
      const [condition, consensus] = [expression(policyCondition), expression(policyConsensus)]
      this.#set('policy', policyId, { name: policyName, effect, condition, consensus, notes: policyNotes })
      return {}
    },
    DELETE_POLICIES: ({ policyIds }) => {
      for (const id of policyIds) this.#remove('policy', id)
      return {}
    },
    CREATE_WALLET: ({ walletName, accounts }) => {
      const walletId = this.#add(live(formatAddress('wallet', walletName), {}, this.#id()))
      this.#addAccounts(walletId, accounts)
      return { createWalletResult: { walletId, addresses: [] } }
    },
    UPDATE_WALLET: ({ walletId, walletName }) => {
      this.#set('wallet', walletId, { name: walletName })
      return {}
    },
    DELETE_WALLETS: ({ walletIds }) => {
      for (const id of walletIds) this.#remove('wallet', id)
      return {}
    },
    CREATE_WALLET_ACCOUNTS: ({ walletId, accounts }) => {
      this.#addAccounts(this.#find('wallet', walletId).id!, accounts)
      return {}
    },
    SET_ORGANIZATION_FEATURE: ({ name, value }) => {
      const short = String(name).replace('FEATURE_NAME_', '')
      this.#things = this.#things.filter((one) => !(one.kind === 'feature' && one.name === short))
      this.#add(live(formatAddress('feature', short), value === '' ? {} : { value }))
      return {}
    },
    REMOVE_ORGANIZATION_FEATURE: ({ name }) => {
      this.#remove('feature', String(name).replace('FEATURE_NAME_', ''))
      return {}
    },
    UPDATE_ORGANIZATION_NAME: ({ organizationName }) => {
      this.#set('organization', ORGANIZATION, { name: organizationName })
      return {}
    },
  }

  #addKeys(userId: string, apiKeys: readonly Params[]): string[] {
    const user = this.#find('user', userId)
    return apiKeys.map(({ apiKeyName, publicKey, curveType }) => {
      const fields = { curve: String(curveType).replace('API_KEY_CURVE_', ''), publicKey }
      return this.#add({
        ...live(formatAddress('apiKey', user.name, apiKeyName), fields, this.#id()),
        parentId: userId,
      })
    })
  }

  #addAccounts(walletId: string, accounts: readonly Params[]): void {
    const wallet = this.#find('wallet', walletId)
    for (const { curve, path, addressFormat } of accounts) {
      const format = String(addressFormat).replace('ADDRESS_FORMAT_', '').toLowerCase()
      const fields = { path, format, curve: String(curve).replace('CURVE_', '').toLowerCase() }
      const address = formatAddress('walletAccount', wallet.name, walletAccountName(path, format))
      this.#add({ ...live(address, fields, this.#id()), parentId: walletId })
    }
  }

  #id(): string {
    return idFor(`made ${this.#made++}`)
  }

  #add(thing: Resource): string {
    this.#things = [...this.#things, thing]
    return thing.id!
  }

  #of(kind: string): readonly Resource[] {
    return this.#things.filter((one) => one.kind === kind)
  }

  #find(kind: string, id: string): Resource {
    const found = this.#of(kind).find((one) => one.id === id)
    if (!found) throw new Error(`no ${kind} has the id ${id}`)
    return found
  }

  #unique(kind: string, name: string, except?: string): void {
    if (this.#of(kind).some((one) => one.name === name && one.id !== except))
      throw new Error(`${kind} ${name} is taken`)
  }

  #set(kind: string, id: string, values: Readonly<Record<string, unknown>>): void {
    this.#find(kind, id)
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
    this.#things = this.#things.map((one) => {
      if (one.kind !== kind || one.id !== id) return one
      const fields = { ...one.fields, ...given } as Resource['fields']
      if (typeof given['name'] !== 'string' || kind === 'organization') return { ...one, fields }
      return { ...one, fields, name: given['name'], address: formatAddress(one.kind, given['name']) }
    })
  }

  #remove(kind: string, id: string): void {
    this.#find(kind, id)
    this.#things = this.#things.filter((one) => !(one.kind === kind && one.id === id) && one.parentId !== id)
  }
}
