package advice

var events = Table{
	Heading: "Events",
	Entries: []Entry{
		{"Installed", "The release was installed.", "Nothing."},
		{"Upgraded", "A new revision of the release was deployed.", "Nothing."},
		{
			"Repaired",
			"Objects that were changed or deleted by hand were restored.",
			"If it repeats, find the other writer: see [DarkroomContested](runbooks.md#darkroomcontested).",
		},
		{
			"Contested",
			"Warning: another writer keeps changing an object. The operator now restores it less often.",
			"Find the other writer: see [DarkroomContested](runbooks.md#darkroomcontested).",
		},
		{
			"StrayObjects",
			"Warning: another Helm client made a revision of the release, such as `helm upgrade`, whose " +
				"objects still run and belong to nobody. The operator does not delete what it did not create.",
			"Delete the objects that the message lists.",
		},
		{
			"ClaimRefused",
			"Warning: the API server refuses the finalizer or the annotation with which the operator claims " +
				"the Darkroom, for example by a policy. It is tried again every 12 seconds.",
			"Change the policy that the message names.",
		},
		{
			"Recovered",
			"Warning: the operator retries a release that an interrupted operation left pending.",
			"Nothing; if it repeats, find out why the operator restarts.",
		},
		{"Uninstalled", "The release and all its objects were deleted.", "Nothing."},
		{
			"Orphaned",
			"The Darkroom was deleted with `--cascade=orphan`: its objects stay, as a Helm release of the " +
				"plain chart.",
			"Nothing.",
		},
		{
			"ReleaseFailed",
			"Warning: an install, upgrade or repair failed. It is retried.",
			"Remove the cause that the message gives.",
		},
		{
			"ForeignRelease",
			"Warning: a Helm release of the Darkroom's name exists and does not belong to the Darkroom.",
			"Rename the Darkroom, or uninstall the release.",
		},
		{"Refused", "Warning: the Darkroom cannot be translated.", "Change the fields that the message names."},
		{
			"DomainConflict",
			"Warning: another Darkroom claimed a host first.",
			"Remove it from `subDomains` of one of the two.",
		},
	},
}
