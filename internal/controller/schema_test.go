package controller

import (
	"slices"
	"strconv"
	"testing"
)

// each calls a function with every schema that is the given one without a field or a value.
func each(path string, whole structure, call func(lacking string, part structure)) {
	for name, field := range whole.Properties {
		with := func(change func(map[string]structure)) structure {
			part := whole
			part.Properties = map[string]structure{}
			for name, field := range whole.Properties {
				part.Properties[name] = field
			}
			change(part.Properties)
			return part
		}
		call(path+"."+name, with(func(fields map[string]structure) { delete(fields, name) }))
		each(path+"."+name, field, func(lacking string, part structure) {
			call(lacking, with(func(fields map[string]structure) { fields[name] = part }))
		})
	}
	if whole.Items != nil {
		each(path+"[]", *whole.Items, func(lacking string, part structure) {
			item := whole
			item.Items = &part
			call(lacking, item)
		})
	}
	for i, value := range whole.Enum {
		part := whole
		part.Enum = slices.Delete(slices.Clone(whole.Enum), i, i+1)
		call(path+": "+strconv.Quote(value), part)
	}
}

func TestEachFieldThatADefinitionLacksIsNamed(t *testing.T) {
	t.Parallel()
	written, err := writtenSchema()
	if err != nil {
		t.Fatal(err)
	}
	status, found := written.Properties["status"], 0
	if lacking := lacks("status", status, status); len(lacking) > 0 {
		t.Errorf("the own definition lacks %v", lacking)
	}
	each("status", status, func(lacking string, part structure) {
		found++
		if got := lacks("status", status, part); !slices.Equal(got, []string{lacking}) {
			t.Errorf("without %s, %v are lacking", lacking, got)
		}
	})
	if found < 30 {
		t.Errorf("there are only %d fields and values", found)
	}
}
