import type { Migration } from './migration.ts'

/**
 * Contacts that a parent has given to the users of a sub-organization, beside those that users have proved. Of users of before, those
 * count as given that they were made with: nobody has asked to change their record since.
 */
export const givenContacts: Migration = {
  name: '0042-given-contacts',
  statements: [
    'alter table verified_contacts add column proved integer not null default 1',
    given('EMAIL', 'lower(users.email)'),
    given('PHONE_NUMBER', 'users.phone_number'),
  ],
}

function given(type: string, contact: string): string {
  return `insert into verified_contacts (organization_id, user_id, type, contact, proved)
    select users.organization_id, users.id, '${type}', ${contact}, 0
    from users join organizations on organizations.id = users.organization_id
    where organizations.parent_id is not null and organizations.deleted_at is null
      and users.created_at = organizations.created_at and ${contact} <> ''
      and not exists (select 1 from verified_contacts as proof where proof.organization_id = users.organization_id
        and proof.user_id = users.id and proof.type = '${type}')
      and not exists (select 1 from activities where activities.organization_id = users.organization_id
        and activities.type in ('ACTIVITY_TYPE_UPDATE_USER', 'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
          'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER')
        and lower(activities.intent) like '%' || users.id || '%')`
}
