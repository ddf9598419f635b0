package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

func (f *Face) emailTemplates() []wire.Operation {
	const all, each = "/lyceum/v1/email_templates", "/lyceum/v1/email_templates/{email_name}"
	return []wire.Operation{
		one("listEmailTemplates", wire.Get, all, wire.Anything, f.Templates.Emails, "email_templates", emailTemplates),
		one("showEmailTemplate", wire.Get, each, bindEmailName, f.Templates.Email, "email_template", emailTemplate),
		one("updateEmailTemplate", wire.Patch, each, bindEmailChange, f.Templates.Change, "email_template",
			emailTemplate).Long(),
		wire.None("resetEmailTemplate", wire.Delete, each, bindEmailName, f.Templates.Reset),
		appended("previewEmailTemplate", wire.Run, each+"/preview", bindEmailDraft,
			wire.Rendered(f.Templates.Preview, wire.As("email", emailPreview))).Long(),
		appended("testEmailTemplate", wire.Run, each+"/test", bindEmailDraft,
			wire.Rendered(f.Templates.Test, wire.As("", emailTest))).Long(),
	}
}

func (f *Face) templateSecrets() []wire.Operation {
	const all, each = "/lyceum/v1/template_secrets", "/lyceum/v1/template_secrets/{template_secret_id}"
	return []wire.Operation{
		one("listTemplateSecrets", wire.Get, all, wire.Anything, f.Templates.Secrets, "template_secrets", templateSecrets),
		one("createTemplateSecret", wire.Create, all, bindNewTemplateSecret, f.Templates.AddSecret,
			"template_secret", templateSecret),
		one("updateTemplateSecret", wire.Patch, each, bindNextTemplateSecret, f.Templates.ChangeSecret,
			"template_secret", templateSecret),
		wire.None("deleteTemplateSecret", wire.Delete, each, bindTemplateSecret, f.Templates.DeleteSecret),
	}
}

func (f *Face) pageSnippet() []wire.Operation {
	const path = "/lyceum/v1/page_snippet"
	return []wire.Operation{
		one("showPageSnippet", wire.Get, path, wire.Anything, f.Templates.Snippet, "page_snippet", pageSnippet),
		one("updatePageSnippet", wire.Patch, path, bindSnippet, f.Templates.ChangeSnippet, "page_snippet",
			pageSnippet).Long(),
		appended("previewPageSnippet", wire.Run, path+"/preview", bindSnippet,
			wire.Rendered(f.Templates.PreviewSnippet, wire.As("", snippetPreview))).Long(),
	}
}

// bindSnippet leaves limits in bytes to the rule.
func bindSnippet(in *wire.Input) lyceum.Opt[string] {
	return in.Body("body").Text(0, templates.MaxSource)
}

func bindEmailName(in *wire.Input) templates.EmailName {
	return wire.PathWord(in, "email_name", templates.EmailNames()...)
}

// bindEmailDraft leaves limits in bytes to the rule.
func bindEmailDraft(in *wire.Input) templates.Draft {
	return templates.Draft{
		Name: bindEmailName(in), Subject: in.Body("subject").Text(1, templates.MaxSubject),
		Body: in.Body("body").Text(1, templates.MaxSource),
	}
}

func bindEmailChange(in *wire.Input) templates.Draft {
	d := bindEmailDraft(in)
	d.Enabled = in.Body("enabled").Bool()
	return d
}

func bindTemplateSecret(in *wire.Input) lyceum.TemplateSecretID {
	return wire.PathID[lyceum.TemplateSecretID](in, "template_secret_id")
}

func bindNewTemplateSecret(in *wire.Input) templates.NewSecret {
	name := in.Body("name").Required().Text(1, templates.MaxSecretName)
	return templates.NewSecret{Name: name.Value, Secret: bindSecretText(in)}
}

func bindNextTemplateSecret(in *wire.Input) templates.NextSecret {
	return templates.NextSecret{ID: bindTemplateSecret(in), Secret: bindSecretText(in)}
}

func bindSecretText(in *wire.Input) string {
	return in.Body("secret").Required().Text(1, templates.MaxSecret).Value
}

func emailTemplates(all []templates.Email) []gen.EmailTemplate {
	list := make([]gen.EmailTemplate, len(all))
	for i := range all {
		list[i] = emailTemplate(all[i])
	}
	return list
}

func emailTemplate(e templates.Email) gen.EmailTemplate {
	shown := gen.EmailTemplate{
		Name: gen.EmailTemplateName(e.Name), Description: e.Description, Subject: e.Subject, Body: e.Body,
		Enabled: e.Enabled, UpdatedAt: wire.OptMoment(e.ChangedAt), Variables: []gen.TemplateVariable{},
	}
	for _, v := range e.Variables {
		shown.Variables = append(shown.Variables, gen.TemplateVariable(v))
	}
	return shown
}

func pageSnippet(s templates.Snippet) gen.PageSnippet {
	shown := gen.PageSnippet{Body: s.Body, UpdatedAt: wire.OptMoment(s.ChangedAt), Variables: []gen.TemplateVariable{}}
	for _, v := range s.Variables {
		shown.Variables = append(shown.Variables, gen.TemplateVariable(v))
	}
	return shown
}

func snippetPreview(html string) gen.PageSnippetPreview { return gen.PageSnippetPreview{HTML: html} }

func emailPreview(c templates.Composed) gen.EmailPreview {
	return gen.EmailPreview{Subject: c.Subject, Text: c.Text}
}

func emailTest(to string) gen.EmailTest { return gen.EmailTest{SentTo: to} }

func templateSecrets(all []lyceum.TemplateSecret) []gen.TemplateSecret {
	list := make([]gen.TemplateSecret, len(all))
	for i := range all {
		list[i] = templateSecret(all[i])
	}
	return list
}

func templateSecret(s lyceum.TemplateSecret) gen.TemplateSecret {
	return gen.TemplateSecret{
		ID: int32(s.ID), Name: s.Name, CreatedAt: wire.Moment(s.CreatedAt), UpdatedAt: wire.Moment(s.UpdatedAt),
	}
}
